import type { Peer } from './ports.ts';

/** The recipient as the sender's kin: what permission rules for `message` match (MSG-4). */
export type Relation = 'parent' | 'child' | 'sibling' | '*';

type Kin = Pick<Peer, 'sessionId' | 'parentId'>;

/** From stored origins alone. `*` is any other peer of the tree. */
export function relationOf(sender: Kin, recipient: Kin): Relation {
  if (sender.parentId === recipient.sessionId) return 'parent';
  if (recipient.parentId === sender.sessionId) return 'child';
  return sender.parentId !== null && sender.parentId === recipient.parentId ? 'sibling' : '*';
}
