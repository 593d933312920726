import type {
  AcceptedMessage,
  ClaimedMessage,
  EventEnvelope,
  Inbox,
  InboxBoundary,
  InboxInit,
  MessageDraft,
  RunId,
} from '@agentd/contract';
import { textOf } from './memory-session.ts';

interface Waiting {
  readonly owner: MessageDraft['owner'];
  readonly text: string;
}

/** The smallest inbox that keeps what it accepted: one key is one message, and each is claimed once. It has no guards. */
export class MemoryInbox implements Inbox {
  readonly #log: InboxInit['log'];
  readonly #receipts = new Map<string, AcceptedMessage>();
  readonly #waiting = new Map<string, Waiting>();
  #lastSeq = 0;
  #activeRun: RunId | null = null;

  constructor({ log, events }: InboxInit) {
    this.#log = log;
    for (const event of events) this.apply(event);
  }

  get activeRun(): RunId | null {
    return this.#activeRun;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  unacknowledged(): number {
    return this.#waiting.size;
  }

  highestHop(): number | null {
    return null;
  }

  receiptOf(key: string): AcceptedMessage | null {
    const receipt = this.#receipts.get(key);
    return receipt === undefined ? null : { ...receipt, existing: true };
  }

  apply({ seq, run_id: runId, payload }: EventEnvelope): void {
    if (seq <= this.#lastSeq) return;
    this.#lastSeq = seq;
    if (payload.type === 'run_started') this.#activeRun = runId;
    if (payload.type.startsWith('run_') && payload.type !== 'run_started') this.#activeRun = null;
    if (payload.type === 'message_claimed') this.#waiting.delete(textOf(payload, 'message_id'));
    if (payload.type === 'message_accepted') this.#keep(payload);
  }

  accept({ owner, from, mode, idempotencyKey, body, hop = 0 }: MessageDraft): AcceptedMessage {
    const known = this.receiptOf(idempotencyKey);
    if (known !== null) return known;
    const message_id = `message of ${idempotencyKey}`;
    const payload = { message_id, owner, from, mode, idempotency_key: idempotencyKey, body, hop };
    this.apply(this.#log.append({ type: 'message_accepted', ...payload }, null));
    const receipt = this.#receipts.get(idempotencyKey);
    if (receipt === undefined) throw new Error('the log lost an event');
    return receipt;
  }

  discard(messageId: string): void {
    this.#waiting.delete(messageId);
  }

  claim({ runId }: InboxBoundary): readonly ClaimedMessage[] {
    return [...this.#waiting].map(([messageId, { owner, text }]) => {
      this.apply(this.#log.append({ type: 'message_claimed', message_id: messageId, text }, runId));
      return { messageId, owner, text };
    });
  }

  acknowledge(): void {}

  release(): void {}

  #keep(payload: EventEnvelope['payload']): void {
    const key = textOf(payload, 'idempotency_key');
    const messageId = textOf(payload, 'message_id');
    const recipientState = this.#activeRun === null ? 'waking_finished' : 'running';
    this.#receipts.set(key, { messageId, mode: 'steer', recipientState, existing: false });
    this.#waiting.set(messageId, { owner: 'delegation', text: textOf(payload, 'body') });
  }
}
