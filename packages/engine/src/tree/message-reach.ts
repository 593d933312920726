import type { SessionFacts } from '@agentd/contract';
import { decide, type RuleLayers } from '../permissions/decide.ts';

type Kin = Pick<SessionFacts, 'sessionId' | 'parentId'>;

/** The recipient as the sender's kin, which `message` rules match: from stored origins alone (MSG-4). */
export function kinshipOf(sender: Kin, recipient: Kin): string {
  if (sender.parentId === recipient.sessionId) return 'parent';
  if (recipient.parentId === sender.sessionId) return 'child';
  return sender.parentId !== null && sender.parentId === recipient.parentId ? 'sibling' : '*';
}

/** Whether a rule lets messages reach this relation, asked for or at once. */
export function reaches(relation: string, rules: RuleLayers): boolean {
  return decide({ action: 'message', label: relation }, rules).effect !== 'deny';
}
