import { describe, expect, it } from '@jest/globals';
import { modelError, type ModelClient, type ModelRequest, type ModelStreamPart } from '@agentd/contract';
import {
  countingIds,
  flush,
  manualClock,
  sequenceModel,
  turnParts,
  type SequenceTurn,
} from '@agentd/contract/testing';
import type { EnginePayload } from './events.ts';
import { engineError } from './errors.ts';
import { ModelAttempts } from './model-attempts.ts';
import type { LiveEvent } from './ports.ts';

const request: ModelRequest = {
  system: '',
  messages: [],
  tools: [],
  session: { id: 's', agent: 'default', turns: [] },
};
const says = (text: string): SequenceTurn => turnParts(text);
const cut: SequenceTurn = [{ type: 'text-delta', id: '0', text: 'half an ans' }];
const limited = modelError('MODEL_RATE_LIMIT', 'slow down', { retryAfterMs: 7000 });
const refused = modelError('MODEL_REFUSED', 'no such parameter');

function setup(chain: Readonly<Record<string, readonly SequenceTurn[] | Error>>) {
  const events: EnginePayload[] = [];
  const live: LiveEvent[] = [];
  const clock = manualClock();
  const abort = new AbortController();
  const clients = new Map<string, ReturnType<typeof sequenceModel>>();
  const open = (id: string): ModelClient => {
    const turns = chain[id];
    if (!Array.isArray(turns)) throw turns ?? new Error('unknown');
    clients.set(id, sequenceModel(turns, { id }));
    return clients.get(id)!;
  };
  const names = Object.keys(chain);
  const attempts = new ModelAttempts(
    {
      clock,
      ids: { ...countingIds(), hex: () => '80000000' },
      models: { open: async (id) => (id === 'hangs/9' ? new Promise(() => undefined) : open(id)) },
      sink: { append: (payload) => (events.push(payload), {} as never), sync: async () => undefined },
      live: (event) => live.push(event),
      retry: { standard: 2, overload: 2, ceilingMs: 60_000 },
    },
    names,
    open(names[0]!),
  );
  const turn = () => attempts.turn(() => request, abort.signal);
  /** Lets the turn run until it settles, whatever it waits for. */
  const settle = async <Value>(turn: Promise<Value>): Promise<Value> => {
    const settled = Promise.allSettled([turn]);
    for (let step = 0; step < 20; step += 1) {
      await flush();
      if (clock.pending() > 0) clock.advance(60_000);
    }
    await settled;
    return turn;
  };
  return { abort, attempts, clients, clock, events, live, settle, turn };
}

const textOf = (turn: {
  readonly reducer: { turn: (id: () => string) => { content: readonly unknown[] } };
}) => turn.reducer.turn(() => 'id').content;

describe('ModelAttempts', () => {
  it('gives the first turn that is whole, and writes no event for it', async () => {
    const { events, settle, turn } = setup({ 'a/1': [says('hello')] });
    expect(textOf(await settle(turn()))).toEqual([{ type: 'text', text: 'hello' }]);
    expect(events).toEqual([]);
  });

  it('A1 tries again after the time that the server gave, not before [SES-9]', async () => {
    const { clock, clients, events, turn } = setup({ 'a/1': [limited, says('hello')] });
    const waiting = turn();
    await flush();
    expect(events).toEqual([
      {
        type: 'attempt_abandoned',
        model: 'a/1',
        attempt: 1,
        error: { code: 'MODEL_RATE_LIMIT', message: 'slow down' },
        retry_in_ms: 7000,
      },
    ]);
    clock.advance(6999);
    await flush();
    expect(clients.get('a/1')!.requests).toHaveLength(1);
    clock.advance(1);
    expect(textOf(await waiting)).toEqual([{ type: 'text', text: 'hello' }]);
    expect(events.at(-1)).toEqual({ type: 'model_attempt_started', model: 'a/1', attempt: 2 });
  });

  it('notes in the log which files an attempt was refused for [SES-9]', async () => {
    const image = modelError('MODEL_UNAVAILABLE', 'no image', { refusedFiles: ['aa', 'bb'] });
    const odd = modelError('MODEL_UNAVAILABLE', 'no', { details: { refusedFiles: 'aa' } });
    const { events, settle, turn } = setup({ 'a/1': [image, odd, says('hello')] });
    await settle(turn());
    const abandoned = events.filter(({ type }) => type === 'attempt_abandoned');
    expect(abandoned[0]).toMatchObject({ refused_files: ['aa', 'bb'] });
    expect(abandoned[1]).not.toHaveProperty('refused_files');
  });

  it('A2 goes along the chain when retries are used up, and stays there [SES-9]', async () => {
    const { attempts, clients, events, settle, turn } = setup({
      'a/1': [limited, limited, limited],
      'b/2': [says('from b'), says('from b again')],
    });
    expect(textOf(await settle(turn()))).toEqual([{ type: 'text', text: 'from b' }]);
    expect(events.map(({ type }) => type)).toEqual([
      'attempt_abandoned',
      'model_attempt_started',
      'attempt_abandoned',
      'model_attempt_started',
      'attempt_abandoned',
      'model_fallback',
      'model_attempt_started',
    ]);
    expect(events.at(-2)).toEqual({ type: 'model_fallback', from: 'a/1', to: 'b/2' });
    await settle(turn());
    expect(attempts.client.info.id).toBe('b/2');
    expect(clients.get('a/1')!.requests).toHaveLength(3);
  });

  it.each(['MODEL_AUTH', 'MODEL_REFUSED'] as const)(
    'A2 goes to the next model at once after %s, without waiting [SES-9]',
    async (code) => {
      const { clock, turn } = setup({ 'a/1': [modelError(code, 'no')], 'b/2': [says('from b')] });
      expect(textOf(await turn())).toEqual([{ type: 'text', text: 'from b' }]);
      expect(clock.pending()).toBe(0);
    },
  );

  it('A2 passes over a model that cannot be opened, and says so [SES-9]', async () => {
    const { events, settle, turn } = setup({
      'a/1': [refused],
      'b/2': engineError('ENGINE_MODEL_UNKNOWN', 'no model b/2'),
      'c/3': [says('from c')],
    });
    expect(textOf(await settle(turn()))).toEqual([{ type: 'text', text: 'from c' }]);
    expect(events).toContainEqual(
      expect.objectContaining({
        model: 'b/2',
        error: { code: 'ENGINE_MODEL_UNKNOWN', message: 'no model b/2' },
      }),
    );
    expect(events).toContainEqual({ type: 'model_fallback', from: 'a/1', to: 'c/3' });
  });

  it('throws the error of the last model at the end of the chain [SES-9]', async () => {
    const { settle, turn } = setup({ 'a/1': [refused], 'b/2': [modelError('MODEL_AUTH', 'bad key')] });
    await expect(settle(turn())).rejects.toMatchObject({ code: 'MODEL_AUTH', message: 'bad key' });
  });

  it('A3 fails an overflow at once, with a word on what helps, and without another model [SES-9]', async () => {
    const overflow = modelError('MODEL_CONTEXT_OVERFLOW', 'prompt is too long');
    const { clients, settle, turn } = setup({ 'a/1': [overflow], 'b/2': [says('never')] });
    await expect(settle(turn())).rejects.toMatchObject({
      code: 'MODEL_CONTEXT_OVERFLOW',
      message: expect.stringMatching(/no longer fits the context of a\/1 .* start a new session/),
    });
    expect(clients.has('b/2')).toBe(false);
  });

  it('A3 passes on what is no model error, once', async () => {
    const { clients, settle, turn } = setup({ 'a/1': [new TypeError('a bug')], 'b/2': [says('never')] });
    await expect(settle(turn())).rejects.toThrow('a bug');
    expect(clients.get('a/1')!.requests).toHaveLength(1);
  });

  it('A4 returns nothing of an attempt that was cut, though it was shown [SES-9]', async () => {
    const { live, settle, turn } = setup({ 'a/1': [cut, says('whole')] });
    expect(textOf(await settle(turn()))).toEqual([{ type: 'text', text: 'whole' }]);
    expect(JSON.stringify(live)).toContain('half an ans');
  });

  it('ends a wait at once when the run is cancelled, and leaves no timer', async () => {
    const { abort, clock, turn } = setup({ 'a/1': [limited, says('never')] });
    const waiting = turn();
    await flush();
    abort.abort('user');
    await expect(waiting).rejects.toBe('user');
    expect(clock.pending()).toBe(0);
  });

  it('leaves a model that takes for ever to open', async () => {
    const { abort, turn } = setup({ 'a/1': [refused], 'hangs/9': [] });
    const waiting = turn();
    await flush();
    abort.abort('user');
    await expect(waiting).rejects.toBe('user');
  });

  it('leaves a client that heeds neither abort nor close', async () => {
    const deaf = async function* (): AsyncIterable<ModelStreamPart> {
      yield { type: 'text-delta', id: '0', text: 'x' };
      await new Promise(() => undefined);
    };
    const { abort, live, turn } = setup({ 'a/1': [deaf] });
    const waiting = turn();
    await flush();
    expect(live).toHaveLength(1);
    abort.abort('user');
    await expect(waiting).rejects.toBe('user');
  });
});
