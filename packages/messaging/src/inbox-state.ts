import type { AcceptedMessage, EventEnvelope, InboxView, RunId } from '@agentd/contract';
import { isMessageEventType, readMessageEvent, type MessageEvent, type MessageEventOf } from './events.ts';
import { isAcknowledged, isUnclaimed, phaseAfter, type MessageStep } from './message-phase.ts';
import type { MessageRecord } from './message-record.ts';
import { RunWatch } from './run-watch.ts';

/** An event of an inbox that was passed over. */
export interface InboxFault {
  readonly seq: number;
  readonly type: string;
  /** `damaged`: a required field is wrong. `illegal`: the message is not where the event needs it. */
  readonly kind: 'damaged' | 'illegal';
}

type StepEvent = Exclude<MessageEvent, { readonly type: 'message_accepted' }>;

const STEPS: Readonly<Record<StepEvent['type'], MessageStep>> = {
  message_admitted: 'admit',
  message_claimed: 'claim',
  message_released: 'release',
  message_consumed: 'consume',
  message_discarded: 'discard',
};

/** Steps that only the run takes which the message was admitted to. */
const OF_ITS_RUN: ReadonlySet<MessageStep> = new Set(['claim', 'release', 'consume']);

/**
 * What the events of a log say of its session's inbox. The cost of one event does not grow with the log.
 *   B1. A message takes only steps that `phaseAfter` allows; an event that asks for another one changes nothing.
 *   B2. One key is one message: an acceptance with a known id or key changes nothing (MSG-6).
 *   B3. The first committed turn whose request had taken a claim in consumes it, marker or not (MSG-10).
 *   B4. Events that are unknown or damaged change nothing, and everything after them counts.
 */
export class InboxState implements InboxView {
  readonly #runs = new RunWatch();
  readonly #records = new Map<string, MessageRecord>();
  readonly #idByKey = new Map<string, string>();
  /** Not acknowledged, in order of acceptance. */
  readonly #open = new Set<string>();
  /** Consumed by a turn, and no marker says so yet. */
  readonly #unmarked = new Set<string>();
  readonly #claimedByRun = new Map<RunId, Set<string>>();
  readonly #faults: InboxFault[] = [];
  #lastSeq = 0;

  static of(events: readonly EventEnvelope[]): InboxState {
    const state = new InboxState();
    for (const event of events) state.apply(event);
    return state;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get activeRun(): RunId | null {
    return this.#runs.active;
  }

  get waiting(): number {
    return this.unclaimed.length;
  }

  /** In order of acceptance, as the next two. */
  get unclaimed(): readonly MessageRecord[] {
    return this.#all(this.#open).filter(({ phase }) => isUnclaimed(phase));
  }

  get claimed(): readonly MessageRecord[] {
    return this.#all(this.#open).filter(({ phase }) => phase === 'claimed');
  }

  /** Consumed by a turn, and no `message_consumed` says so yet. */
  get unmarked(): readonly MessageRecord[] {
    return this.#all(this.#unmarked);
  }

  /** What was odd about the log. */
  get faults(): readonly InboxFault[] {
    return this.#faults;
  }

  find(messageId: string): MessageRecord | undefined {
    return this.#records.get(messageId);
  }

  unacknowledged(from?: string): number {
    return this.#all(this.#open).filter(
      (record) => record.owner === 'agent' && (from === undefined || record.from === from),
    ).length;
  }

  highestHop(runId: RunId): number | null {
    const hops = this.#all(this.#claimedByRun.get(runId) ?? [])
      .filter((record) => record.owner === 'agent' && record.runId === runId)
      .filter(({ phase }) => phase === 'claimed' || phase === 'consumed')
      .map(({ hop }) => hop);
    return hops.length === 0 ? null : Math.max(...hops);
  }

  receiptOf(idempotencyKey: string): AcceptedMessage | null {
    const id = this.#idByKey.get(idempotencyKey);
    const record = id === undefined ? undefined : this.#records.get(id);
    return record === undefined ? null : { ...record.receipt, existing: true };
  }

  apply(event: EventEnvelope): void {
    const { seq, payload } = event;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    this.#runs.apply(event);
    if (payload.type === 'model_turn_committed') this.#commit(payload['input_through_seq']);
    if (!isMessageEventType(payload.type)) return;
    const message = readMessageEvent(payload.type, payload);
    if (message === null) this.#fault(event, 'damaged');
    else if (!this.#take(message, event)) this.#fault(event, 'illegal');
  }

  #take(message: MessageEvent, event: EventEnvelope): boolean {
    return message.type === 'message_accepted' ? this.#accept(message) : this.#step(message, event);
  }

  #accept({ message_id: messageId, ...payload }: MessageEventOf<'message_accepted'>): boolean {
    const { owner, from, mode, hop, body, idempotency_key: key } = payload;
    if (this.#records.has(messageId) || this.#idByKey.has(key)) return false;
    const { recipientState } = this.#runs;
    const receipt = { messageId, mode, recipientState, existing: false };
    this.#idByKey.set(key, messageId);
    this.#put({ owner, from, hop, body, receipt, phase: 'accepted', runId: null, claimSeq: 0 });
    return true;
  }

  #step({ type, message_id: id }: StepEvent, { seq, run_id: runId }: EventEnvelope): boolean {
    const record = this.#records.get(id);
    if (record === undefined) return false;
    if (type === 'message_consumed' && this.#unmarked.delete(id)) return true;
    const step = STEPS[type];
    const phase = phaseAfter(record.phase, step);
    if (phase === null) return false;
    if (step === 'admit' ? runId === null : OF_ITS_RUN.has(step) && runId !== record.runId) return false;
    if (step === 'claim') this.#noteClaim(runId, id);
    this.#put({
      ...record,
      phase,
      runId: step === 'admit' ? runId : record.runId,
      claimSeq: step === 'claim' ? seq : record.claimSeq,
    });
    return true;
  }

  #commit(inputThrough: unknown): void {
    if (typeof inputThrough !== 'number') return;
    for (const record of this.claimed) {
      if (record.claimSeq > inputThrough) continue;
      this.#put({ ...record, phase: 'consumed' });
      this.#unmarked.add(record.receipt.messageId);
    }
  }

  #put(record: MessageRecord): void {
    const { messageId } = record.receipt;
    const done = isAcknowledged(record.phase);
    this.#records.set(messageId, done ? { ...record, body: '' } : record);
    if (done) this.#open.delete(messageId);
    else this.#open.add(messageId);
  }

  #noteClaim(runId: RunId | null, messageId: string): void {
    if (runId === null) return;
    const ids = this.#claimedByRun.get(runId) ?? new Set<string>();
    this.#claimedByRun.set(runId, ids.add(messageId));
  }

  #all(ids: Iterable<string>): readonly MessageRecord[] {
    return [...ids].flatMap((id) => this.#records.get(id) ?? []);
  }

  #fault({ seq, payload: { type } }: EventEnvelope, kind: InboxFault['kind']): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ seq, type, kind });
  }
}

/** More of them say nothing new. */
const MOST_FAULTS = 100;
