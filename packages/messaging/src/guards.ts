import type { InboxView, MessageDraft } from '@agentd/contract';
import type { Refusal } from './errors.ts';
import type { Peer } from './ports.ts';
import type { MessagingSettings } from './settings.ts';

/** Whether messaging is switched on; checked before anything else (MSG-5). */
export function switchProblem({ enabled }: MessagingSettings): Refusal | null {
  if (enabled) return null;
  return {
    reason: 'disabled',
    message: 'messaging is switched off ([messaging] enabled = false); go on without it',
  };
}

/** A body of white space is empty (MSG-5). */
export function bodyProblem(body: string, { maxBodyBytes }: MessagingSettings): Refusal | null {
  if (body.trim() === '') return { reason: 'invalid_body', message: 'body is empty; say something in it' };
  const bytes = Buffer.byteLength(body);
  if (bytes <= maxBodyBytes) return null;
  const message = `body has ${bytes} bytes and at most ${maxBodyBytes} are allowed; shorten it, or write it to a file and send the path`;
  return { reason: 'invalid_body', message };
}

/** Whether a session that was named by its UUID can be written to. `found` is null where nobody has that id (MSG-5). */
export function recipientProblem(sender: Peer, found: Peer | null): Refusal | null {
  if (found === null) return { reason: 'unknown_session', message: 'no session has this UUID' };
  if (found.rootId !== sender.rootId)
    return {
      reason: 'not_tree_peer',
      message: 'this session belongs to another tree; only peers of your own can be written to',
    };
  if (found.sessionId === sender.sessionId)
    return { reason: 'self_send', message: 'this is your own session; write to another one' };
  return null;
}

/** An agent's message just before it is accepted. */
export type Send = Pick<MessageDraft, 'from'> & { readonly hop: number };

/** Whether the recipient's inbox takes it: room, hops, window, in this order (MSG-5, MSG-7). */
export function acceptanceProblem(
  inbox: InboxView,
  { from, hop }: Send,
  settings: MessagingSettings,
): Refusal | null {
  const { maxHops, maxPendingPerSession, maxInflightPerPair } = settings;
  if (inbox.unacknowledged() >= maxPendingPerSession)
    return {
      reason: 'inbox_full',
      message: `the recipient has ${maxPendingPerSession} messages that it has not read; nothing was sent, try again later`,
    };
  if (maxHops > 0 && hop > maxHops)
    return {
      reason: 'max_hops_exceeded',
      message: `this would be message ${hop + 1} of a chain of answers, and a chain ends after ${maxHops + 1}; nothing was sent, end the exchange`,
    };
  if (maxInflightPerPair > 0 && inbox.unacknowledged(from) >= maxInflightPerPair)
    return {
      reason: 'inflight_full',
      message: `the recipient has not read your last ${maxInflightPerPair} messages; nothing was sent, wait until it has`,
    };
  return null;
}

/** The send raced the end of the engine (MSG-5). */
export function shutdownProblem(shutdown: AbortSignal): Refusal | null {
  if (!shutdown.aborted) return null;
  return { reason: 'engine_shutdown', message: 'the engine is stopping; nothing was sent' };
}
