import {
  messageOf,
  toolError,
  type AcceptedMessage,
  type Inbox,
  type MessageMode,
  type RunId,
  type ToolCallId,
} from '@agentd/contract';
import { refusalError } from './errors.ts';
import { acceptanceProblem, shutdownProblem } from './guards.ts';
import type { HeldInbox, MessagingPorts, Peer } from './ports.ts';
import type { MessagingSettings } from './settings.ts';

/** One send between two peers. */
export interface PeerSend {
  readonly sender: Peer;
  readonly recipient: Peer;
  readonly message: { readonly callId: ToolCallId; readonly mode: MessageMode; readonly body: string };
  readonly settings: MessagingSettings;
}

/** Whom a send comes from, as far as keys and hops go (MSG-6, MSG-7). */
interface Chain {
  readonly runId: RunId | null;
  readonly hop: number;
}

/**
 * Accepts a message for a peer: checks and event in one step of the recipient's inbox, then the disk, then the wake
 * (MSG-2, MSG-5). What was accepted before under the same key is answered as it was then (MSG-6).
 */
export async function sendToPeer(
  ports: MessagingPorts,
  send: PeerSend,
  signal: AbortSignal,
): Promise<AcceptedMessage> {
  const { sender, recipient } = send;
  const chain = await useInbox(ports, sender, async ({ inbox }) => chainOf(inbox));
  const accepted = await useInbox(ports, recipient, async ({ inbox, sync }) => {
    if (signal.aborted) throw toolError('cancelled', 'cancelled before the message was accepted');
    const receipt = accept(inbox, { ...send, chain }, ports.shutdown);
    await sync().catch((error: unknown) => {
      throw toolError('execution_failed', `${UNSURE}: ${messageOf(error)}`, { cause: error });
    });
    return receipt;
  });
  ports.waker.wake(recipient.sessionId);
  return accepted;
}

const UNSURE =
  'the log of the recipient could not be written, so it is not known whether the message will arrive';

/** All of it in one step: whatever other sends there are, they come before it or after it. */
function accept(
  inbox: Inbox,
  { sender, message, settings, chain: { runId, hop } }: PeerSend & { readonly chain: Chain },
  shutdown: AbortSignal,
): AcceptedMessage {
  const idempotencyKey = `agent-message:${sender.sessionId}:${runId ?? 'no-run'}:${message.callId}`;
  const from = sender.handle;
  const known = inbox.receiptOf(idempotencyKey);
  if (known !== null) return known;
  const problem = acceptanceProblem(inbox, { from, hop }, settings) ?? shutdownProblem(shutdown);
  if (problem !== null) throw refusalError(problem);
  const { mode, body } = message;
  return inbox.accept({ owner: 'agent', from, mode, idempotencyKey, body, hop });
}

/** A fresh run that was told nothing starts a chain (MSG-7). */
function chainOf(inbox: Inbox): Chain {
  const runId = inbox.activeRun;
  const highest = runId === null ? null : inbox.highestHop(runId);
  return { runId, hop: highest === null ? 0 : highest + 1 };
}

async function useInbox<Value>(
  { inboxes, shutdown }: MessagingPorts,
  { sessionId, handle }: Peer,
  work: (held: HeldInbox) => Promise<Value>,
): Promise<Value> {
  const begun = { yet: false };
  try {
    return await inboxes.use(sessionId, (held) => {
      begun.yet = true;
      return work(held);
    });
  } catch (error) {
    if (begun.yet) throw error;
    const problem = shutdownProblem(shutdown);
    if (problem !== null) throw refusalError(problem);
    throw toolError('execution_failed', `the inbox of ${handle} could not be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
