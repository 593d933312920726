import { isUuid, unknownSubagent, type SessionId } from '@agentd/contract';
import { refusalError } from './errors.ts';
import { recipientProblem } from './guards.ts';
import type { Peer, PeerDirectory } from './ports.ts';

/**
 * Whom `to` means: a canonical lowercase UUID is a session, anything else a handle in the sender's tree, compared
 * exactly (MSG-1, DLG-4). Throws `send_message:unknown_session`, `:not_tree_peer`, `:self_send` or `unknown_subagent`.
 */
export async function resolveRecipient(directory: PeerDirectory, sender: Peer, to: string): Promise<Peer> {
  if (isUuid(to)) return recipientById(directory, sender, to);
  const tree = await directory.tree(sender.rootId);
  const others = tree.filter(({ sessionId }) => sessionId !== sender.sessionId);
  const meant = others.find(({ handle }) => handle === to);
  if (meant === undefined) throw unknownSubagent(to, others);
  return meant;
}

/** A session of the sender's tree other than its own. Throws what `send_message` says of any other one. */
export async function recipientById(
  directory: PeerDirectory,
  sender: Peer,
  sessionId: SessionId,
): Promise<Peer> {
  const found = await directory.find(sessionId);
  const problem = recipientProblem(sender, found);
  if (problem !== null) throw refusalError(problem);
  // Null is a problem.
  return found as Peer;
}
