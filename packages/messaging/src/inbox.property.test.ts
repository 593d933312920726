import { describe, expect, it } from '@jest/globals';
import { codeOf, type EventEnvelope, type MessageMode } from '@agentd/contract';
import { countingIds, flush } from '@agentd/contract/testing';
import fc from 'fast-check';
import { DEFAULT_MESSAGING_SETTINGS, type MessagingSettings } from './settings.ts';
import { historyOf } from './test/history-of.ts';
import { ReferenceModel } from './test/reference-model.ts';
import { sending } from './test/sending.ts';
import { memoryTree, type MemorySession } from './testing/memory-tree.ts';

type Kind = 'run_start' | 'between_calls' | 'run_end';

type Action =
  | {
      readonly do: 'send' | 'send into a crash';
      readonly from: 0 | 1;
      readonly mode: MessageMode;
      readonly kept: number;
    }
  | { readonly do: 'repeat'; readonly nth: number }
  | { readonly do: 'claim'; readonly kind: Kind }
  | { readonly do: 'crash'; readonly kept: number }
  | { readonly do: 'junk'; readonly payload: EventEnvelope['payload'] }
  | { readonly do: 'request' | 'turn' | 'fail' | 'acknowledge' | 'sync' };

const mode = fc.constantFrom<MessageMode>('steer', 'queue');
const from = fc.constantFrom<0 | 1>(0, 1);
const kept = fc.nat(100);
const junk = fc.constantFrom(
  { type: 'message_forwarded', message_id: 'x' },
  {
    type: 'message_accepted',
    message_id: 'torn',
    owner: 'agent',
    from: 'x',
    mode: 'steer',
    body: 'no key',
    hop: 0,
  },
  { type: 'message_released', message_id: 'nobody' },
  { type: 'message_consumed' },
);

const actions = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), from, mode, kept }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('send into a crash' as const), from, mode, kept }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), nth: fc.nat(50) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('claim' as const),
        kind: fc.constantFrom<Kind>('run_start', 'between_calls', 'run_end'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), kept }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('junk' as const), payload: junk }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom('request', 'turn', 'fail', 'acknowledge', 'sync' as const),
      }),
    },
  ),
  { minLength: 5, maxLength: 60 },
) as fc.Arbitrary<readonly Action[]>;

interface Call {
  readonly from: 0 | 1;
  readonly mode: MessageMode;
  readonly callId: string;
}

/** One recipient, two senders, a loop that may do anything in any order, and the model beside it. */
class World {
  readonly model = new ReferenceModel();
  readonly #settings: MessagingSettings;
  readonly #tree = memoryTree(countingIds());
  readonly #senders;
  readonly #calls: Call[] = [];
  #recipient: MemorySession;
  #run = 1;
  #request = 0;

  constructor(settings: MessagingSettings) {
    this.#settings = settings;
    this.#recipient = this.#tree.add({ agent: 'lead' });
    const child = (agent: string) => this.#tree.add({ agent, parent: this.#recipient });
    this.#senders = [child('a'), child('b')] as const;
  }

  get #log() {
    return this.#recipient.log;
  }

  get #end(): number {
    return this.#log.events.at(-1)?.seq ?? 0;
  }

  async do(action: Action): Promise<void> {
    switch (action.do) {
      case 'send':
        return this.send(action.from, action.mode);
      case 'send into a crash':
        return this.sendIntoCrash(action);
      case 'repeat':
        return this.#calls.length === 0
          ? undefined
          : this.#send(this.#calls[action.nth % this.#calls.length]!);
      case 'claim':
        return this.claim(action.kind);
      case 'crash':
        return this.crash(action.kept);
      case 'junk':
        return this.#recipient.record(action.payload, `run-${this.#run}`);
      case 'sync':
        return this.#log.sync();
      default:
        this.#step(action.do);
    }
  }

  #step(step: 'request' | 'turn' | 'fail' | 'acknowledge'): void {
    if (step === 'request') this.#request = this.#end;
    if (step === 'acknowledge') this.#recipient.inbox.acknowledge();
    if (step === 'turn') this.turn();
    if (step !== 'fail') return;
    this.model.release(this.#end + 0.5);
    this.#recipient.inbox.release();
    this.#run += 1;
  }

  turn(): void {
    const payload = { type: 'model_turn_committed', input_through_seq: this.#request };
    this.#recipient.record(payload, `run-${this.#run}`);
    this.model.commit({ through: this.#request, seq: this.#end });
  }

  async send(from: 0 | 1, mode: MessageMode): Promise<void> {
    const call = { from, mode, callId: `call-${this.#calls.length}` };
    this.#calls.push(call);
    await this.#send(call);
  }

  async #send(call: Call): Promise<void> {
    const { handle } = this.#senders[call.from];
    const known = this.model.knows(call.callId);
    const expected = known ? 'accepted' : this.model.verdict(handle, this.#settings);
    const before = this.#log.events.length;
    const verdict = await this.#attempt(call).then(() => 'accepted', codeOf);
    expect(verdict).toBe(expected);
    expect(this.#log.events.length - before).toBe(expected === 'accepted' && !known ? 1 : 0);
    if (expected !== 'accepted') return;
    if (!known) this.model.accept({ key: call.callId, from: handle, mode: call.mode, seq: this.#end });
    this.model.tell(call.callId);
  }

  #attempt({ from, mode, callId }: Call): Promise<unknown> {
    const { send } = sending(this.#tree, this.#settings);
    return send(this.#senders[from], { to: this.#recipient.sessionId, body: `<${callId}>`, mode }, callId);
  }

  /** The event is written, the disk has not answered, the process dies: nobody was told. Then the sender retries. */
  async sendIntoCrash({ from, mode, kept }: { from: 0 | 1; mode: MessageMode; kept: number }): Promise<void> {
    const call = { from, mode, callId: `call-${this.#calls.length}` };
    this.#calls.push(call);
    const { handle } = this.#senders[from];
    const accepts = this.model.verdict(handle, this.#settings) === 'accepted';
    const disk = this.#log.holdSyncs();
    const lost = this.#attempt(call).catch(() => undefined);
    await flush();
    if (accepts) this.model.accept({ key: call.callId, from: handle, mode, seq: this.#end });
    this.crash(kept);
    disk.release();
    await lost;
    await this.#send(call);
  }

  claim(kind: Kind): void {
    const due = this.model.due(kind);
    const claimed = this.#recipient.inbox.claim({ kind, runId: `run-${this.#run}`, canReply: () => false });
    expect(claimed.map(({ text }) => keyOf(text))).toEqual(due);
    for (const { messageId, text } of claimed) {
      const event = this.#log.events.findLast(
        ({ payload }) => payload.type === 'message_claimed' && payload['message_id'] === messageId,
      );
      this.model.claim(keyOf(text), event?.seq ?? 0);
    }
  }

  /** Keeps what was synced and a part of the rest; opens again. */
  crash(kept: number): void {
    const synced = this.#log.synced().length;
    const keep = synced + Math.floor(((this.#log.events.length - synced) * kept) / 100);
    const events = this.#log.events.slice(0, keep);
    this.model.crash(events.at(-1)?.seq ?? 0);
    this.#recipient = this.#tree.restart(this.#recipient, events);
    this.#run += 1;
    this.#request = 0;
  }

  check(): void {
    const { inbox } = this.#recipient;
    expect(inbox.unacknowledged()).toBe(this.model.pending().length);
    for (const { handle } of this.#senders)
      expect(inbox.unacknowledged(handle)).toBe(this.model.pending(handle).length);
    expect(inbox.waiting).toBe(this.model.due('run_start').length);
  }

  /** One last run reads what is left. */
  finish(): void {
    this.crash(100);
    this.claim('run_start');
    this.#request = this.#end;
    this.turn();
    this.#recipient.inbox.acknowledge();
    expect(this.#recipient.inbox.unacknowledged()).toBe(0);
    const history = historyOf(this.#log.events).map(keyOf);
    expect(history).toEqual(this.model.read);
    expect(new Set(history).size).toBe(history.length);
    expect(this.model.told.filter((key) => !history.includes(key))).toEqual([]);
    for (const { handle } of this.#senders)
      for (const mode of ['steer', 'queue'] as const) {
        const lane = this.model.lane(handle, mode);
        expect(history.filter((key) => lane.includes(key))).toEqual(lane);
      }
  }
}

function keyOf(text: string): string {
  return /<(call-\d+)>/.exec(text)?.[1] ?? `no key in ${text}`;
}

const settings = fc.record({
  maxPendingPerSession: fc.integer({ min: 1, max: 6 }),
  maxInflightPerPair: fc.nat(4),
});

describe('an inbox beside a plain list', () => {
  it('delivers each accepted message exactly once and in order, over failures and crashes [MSG-2] [MSG-5] [MSG-6] [MSG-7] [MSG-10] [MSG-11] [field G2] [field G13]', async () => {
    await fc.assert(
      fc.asyncProperty(actions, settings, async (steps, limits) => {
        const world = new World({ ...DEFAULT_MESSAGING_SETTINGS, ...limits });
        for (const step of steps) {
          await world.do(step);
          world.check();
        }
        world.finish();
      }),
      { numRuns: 300 },
    );
  });
});
