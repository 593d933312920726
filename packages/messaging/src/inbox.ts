import type {
  AcceptedMessage,
  ClaimedMessage,
  EventEnvelope,
  Ids,
  Inbox,
  InboxBoundary,
  InboxInit,
  MessageDraft,
  OpenInbox,
  RunId,
} from '@agentd/contract';
import { dueAt } from './boundary.ts';
import { agentEnvelope, escapeBody } from './envelope.ts';
import { messagingError } from './errors.ts';
import { messageEventSchemas, type MessageEvent, type MessageEventOf } from './events.ts';
import { InboxState } from './inbox-state.ts';
import { isUnclaimed } from './message-phase.ts';
import type { MessageRecord } from './message-record.ts';

/** Opens inboxes that write to the log of their session; `ids` names the messages. */
export function inboxOpener(ids: Ids): OpenInbox {
  return (init) => new SessionInbox(init, ids);
}

/**
 * The inbox of one session: decides by its state and writes the event that changes it.
 *   I1. Each event that it writes is legal when it is written; nothing can come in between, since nothing waits.
 *   I2. It never changes its state but by an event, so a rebuilt inbox is the same one.
 *   I3. A message is in one claim at a time, and in no claim after a turn has consumed it.
 */
class SessionInbox implements Inbox {
  readonly #log: InboxInit['log'];
  readonly #ids: Ids;
  readonly #state: InboxState;

  constructor({ log, events }: InboxInit, ids: Ids) {
    this.#log = log;
    this.#ids = ids;
    this.#state = InboxState.of(events);
  }

  get activeRun(): RunId | null {
    return this.#state.activeRun;
  }

  get waiting(): number {
    return this.#state.waiting;
  }

  unacknowledged(from?: string): number {
    return this.#state.unacknowledged(from);
  }

  highestHop(runId: RunId): number | null {
    return this.#state.highestHop(runId);
  }

  receiptOf(idempotencyKey: string): AcceptedMessage | null {
    return this.#state.receiptOf(idempotencyKey);
  }

  apply(event: EventEnvelope): void {
    if (event.seq > this.#state.lastSeq) this.#state.apply(event);
  }

  accept(draft: MessageDraft): AcceptedMessage {
    const known = this.#state.receiptOf(draft.idempotencyKey);
    if (known !== null) return known;
    const payload = acceptance(draft, this.#ids.uuid());
    this.#write(payload, null);
    return this.#record(payload.message_id).receipt;
  }

  discard(messageId: string): void {
    const phase = this.#state.find(messageId)?.phase;
    if (phase === 'discarded') return;
    if (phase === undefined || !isUnclaimed(phase)) throw illegal(messageId, phase);
    this.#write({ type: 'message_discarded', message_id: messageId }, this.#state.activeRun);
  }

  claim({ runId, kind, canReply }: InboxBoundary): readonly ClaimedMessage[] {
    return dueAt(kind, this.#state.unclaimed).map((record) => {
      const { owner, receipt } = record;
      const text = textOf(record, canReply);
      this.#write({ type: 'message_admitted', message_id: receipt.messageId }, runId);
      this.#write({ type: 'message_claimed', message_id: receipt.messageId, text }, runId);
      return { messageId: receipt.messageId, owner, text };
    });
  }

  acknowledge(): void {
    for (const { receipt, runId } of this.#state.unmarked)
      this.#write({ type: 'message_consumed', message_id: receipt.messageId }, runId);
  }

  release(): void {
    this.acknowledge();
    for (const { receipt, runId } of this.#state.claimed)
      this.#write({ type: 'message_released', message_id: receipt.messageId }, runId);
  }

  /** A log that shows its events to the inbox itself has done so by the time `append` returns. */
  #write(payload: MessageEvent, runId: RunId | null): void {
    this.apply(this.#log.append(payload, runId));
  }

  #record(messageId: string): MessageRecord {
    const record = this.#state.find(messageId);
    if (record === undefined) throw new Error('the log numbers events at or below earlier ones');
    return record;
  }
}

function acceptance(draft: MessageDraft, messageId: string): MessageEventOf<'message_accepted'> {
  const { owner, from, mode, idempotencyKey, body, hop = 0 } = draft;
  const payload = {
    type: 'message_accepted',
    message_id: messageId,
    owner,
    from,
    mode,
    idempotency_key: idempotencyKey,
    body,
    hop,
  } as const;
  const problem = messageEventSchemas.message_accepted.safeParse(payload).error?.issues[0];
  if (problem === undefined) return payload;
  const field = problem.path.join('.');
  throw messagingError('MESSAGING_DRAFT_INVALID', `the draft's ${field} is not valid: ${problem.message}`);
}

/** What is not an agent's comes as its owner wrote it, but can forge no agent's message either (MSG-9). */
function textOf({ owner, from, body }: MessageRecord, canReply: (handle: string) => boolean): string {
  return owner === 'agent' ? agentEnvelope({ from, body, canReply: canReply(from) }) : escapeBody(body);
}

function illegal(messageId: string, phase: string | undefined): Error {
  return messagingError(
    'MESSAGING_ILLEGAL_STEP',
    `the message ${messageId} is ${phase ?? 'unknown'}; only what nobody has claimed can be discarded`,
  );
}
