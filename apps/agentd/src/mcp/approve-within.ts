import { isAbsolute } from 'node:path';
import type { ApprovalAnswer, Approver } from '@agentd/engine';

const APPROVED: ApprovalAnswer = { decision: 'once', source: 'policy', feedback: null };

/**
 * Approves whatever asks but the paths outside the working directory: the client of `agentd mcp` has asked its user
 * already, about a call in that directory (PERM-6). Their labels are absolute, wherever links lead (FS-11).
 */
export const approveWithin: Approver = {
  ask: async ({ request: { action, label } }) => {
    if ((action !== 'read' && action !== 'write') || !isAbsolute(label)) return APPROVED;
    const feedback = `it is outside the working directory, and agentd mcp was started without --allow "${action}:…" for it`;
    return { decision: 'reject', source: 'policy', feedback };
  },
};
