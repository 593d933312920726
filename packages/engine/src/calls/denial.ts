import type { JsonObject, PermissionRequest } from '@agentd/contract';
import type { ApprovalAnswer } from '../ports.ts';
import { callError } from './call-fault.ts';
import { EMPTY_RESULT, type CallEnd } from './call-stages.ts';
import { cutToBytes } from './bounded-text.ts';

/** Why a call was not permitted (PERM-8). */
export interface Denial {
  readonly source: ApprovalAnswer['source'];
  /** The deciding rule; null where none matched. */
  readonly rule: string | null;
  /** What the user, or who stands for them, said. */
  readonly feedback: string | null;
}

/** A label is repeated to the model only so far as it tells which call is meant. */
const MAX_LABEL_BYTES = 512;

const ADVICE = 'Do not repeat the call as it is: choose another way, or go on without it.';

/** The end of a denied call: `failed`, `permission_denied`, with the structured reason in its metadata (PERM-8). */
export function deniedEnd(request: PermissionRequest, denial: Denial, why: string): CallEnd {
  const { source, rule, feedback } = denial;
  const target = `${request.action} on ${JSON.stringify(cutToBytes(request.label, MAX_LABEL_BYTES))}`;
  const structured: JsonObject = { kind: 'tool_denied', source, rule, feedback };
  return {
    outcome: 'failed',
    error: callError('permission_denied', `permission denied for ${target}: ${why}. ${ADVICE}`),
    result: { ...EMPTY_RESULT, metadata: { denial: structured } },
    release: null,
  };
}

/** The end of a call that a rule forbids, or that no rule speaks of (PERM-2). */
export function forbiddenEnd(request: PermissionRequest, rule: string | null): CallEnd {
  const why = rule === null ? 'no rule allows it' : `the rule "${rule}" forbids it`;
  return deniedEnd(request, { source: 'policy', rule, feedback: null }, why);
}

/** The end of a call that was asked about and not approved. */
export function refusedEnd(request: PermissionRequest, rule: string, answer: ApprovalAnswer): CallEnd {
  const { decision, source, feedback } = answer;
  const said = feedback === null || feedback === '' ? '' : `: ${feedback}`;
  const why = decision === 'expired' ? 'nobody answered in time' : REFUSALS[source];
  return deniedEnd(request, { source, rule, feedback }, `the rule "${rule}" asks, and ${why}${said}`);
}

const REFUSALS: Readonly<Record<ApprovalAnswer['source'], string>> = {
  user: 'the user refused',
  policy: 'it was refused without asking anybody',
};
