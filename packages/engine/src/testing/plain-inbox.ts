import type { EventEnvelope, Inbox, InboxInit, OpenInbox } from '@agentd/contract';

interface Letter {
  readonly id: string;
  readonly mode: string;
  readonly body: string;
  phase: 'waiting' | 'claimed' | 'consumed';
  claimSeq: number;
  runId: string | null;
}

/** An inbox for tests of who uses one: no guards, no envelopes, the texts as they are. */
export const plainInbox: OpenInbox = (init) => {
  const inbox = new PlainInbox(init);
  for (const event of init.events) inbox.apply(event);
  return inbox;
};

class PlainInbox implements Inbox {
  readonly #letters: Letter[] = [];
  readonly #log: InboxInit['log'];
  #lastSeq = 0;
  activeRun: string | null = null;
  readonly highestHop = (): null => null;
  readonly receiptOf = (): null => null;
  readonly discard = (): never => {
    throw new Error('not for this inbox');
  };

  constructor({ log }: InboxInit) {
    this.#log = log;
  }

  get waiting(): number {
    return this.#in('waiting').length;
  }

  unacknowledged(): number {
    return this.#letters.filter(({ phase }) => phase !== 'consumed').length;
  }

  apply({ seq, run_id: runId, payload }: EventEnvelope): void {
    if (seq <= this.#lastSeq) return;
    this.#lastSeq = seq;
    const letter = this.#letters.find(({ id }) => id === payload['message_id']);
    if (payload.type === 'message_accepted') this.#take(payload as never);
    if (payload.type === 'message_claimed' && letter)
      Object.assign(letter, { phase: 'claimed', claimSeq: seq, runId });
    if (payload.type === 'message_released' && letter) letter.phase = 'waiting';
    if (payload.type !== 'model_turn_committed') return;
    for (const claimed of this.#in('claimed'))
      if (claimed.claimSeq <= Number(payload['input_through_seq'])) claimed.phase = 'consumed';
  }

  accept: Inbox['accept'] = ({ owner, from, mode, idempotencyKey, body }) => {
    const messageId = `m${this.#letters.length + 1}`;
    const key = { idempotency_key: idempotencyKey, hop: 0 };
    this.#write({ type: 'message_accepted', message_id: messageId, owner, from, mode, body, ...key }, null);
    return { messageId, mode, recipientState: 'running', existing: false };
  };

  claim: Inbox['claim'] = ({ runId, kind }) => {
    const due = this.#in('waiting').filter(({ mode }) => kind !== 'between_calls' || mode === 'steer');
    for (const { id, body } of due)
      this.#write({ type: 'message_claimed', message_id: id, text: body }, runId);
    return due.map(({ id, body }) => ({ messageId: id, owner: 'agent', text: body }));
  };

  acknowledge(): void {
    // Who reads the log knows from the turn itself.
  }

  release(): void {
    for (const { id, runId } of this.#in('claimed'))
      this.#write({ type: 'message_released', message_id: id }, runId);
  }

  #take({ message_id: id, mode, body }: Record<'message_id' | 'mode' | 'body', string>): void {
    this.#letters.push({ id, mode, body, phase: 'waiting', claimSeq: 0, runId: null });
  }

  #in(phase: Letter['phase']): readonly Letter[] {
    return this.#letters.filter((letter) => letter.phase === phase);
  }

  #write(payload: EventEnvelope['payload'], runId: string | null): void {
    this.apply(this.#log.append(payload, runId));
  }
}
