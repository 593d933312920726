import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventEnvelope, EventPayload, RunId } from '@agentd/contract';
import { processorMs } from '@agentd/contract/testing';
import { created, envelope, input, RUN, SESSION } from './file/testing/sample-events.ts';
import type { EnginePayload } from './events.ts';
import { SessionState } from './session-state.ts';
import { eventsOf, scripts } from './testing/session-script.ts';

type Said = EnginePayload | EventPayload;

function stateOf(payloads: readonly Said[], runId: RunId = RUN): SessionState {
  return SessionState.of([created, ...payloads].map((payload, index) => envelope(index + 1, payload, runId)));
}

const runStarted = (clientRunId: string, mode: 'ask' | 'auto' | 'yolo' = 'ask'): EnginePayload => ({
  type: 'run_started',
  client_run_id: clientRunId,
  trigger: 'user',
  agent: 'default',
  model: 'm/1',
  tools: [],
  prompt_sha256: '',
  mode,
});
const turn = (text: string, ids: readonly string[] = []): EnginePayload => ({
  type: 'model_turn_committed',
  model: 'm/1',
  content: [
    { type: 'text', text },
    ...ids.map((id) => ({ type: 'tool_call' as const, provider_call_id: id, tool: 'read', input: { id } })),
  ],
  finish_reason: 'stop',
  input_through_seq: 0,
});
const started = (id: string, callId = `call-${id}`): EnginePayload => ({
  type: 'tool_call_started',
  tool_call_id: callId,
  provider_call_id: id,
  tool: 'read',
  args: { id },
  action: 'read',
  label: 'a',
  output: { kind: 'single' },
});
const ended = (callId: string, text: string): EnginePayload => ({
  type: 'tool_call_terminated',
  tool_call_id: callId,
  outcome: 'completed',
  result: { text, metadata: { n: 1 }, display: 'd', attachments: [], retained_output: null },
  error: null,
});
const denied = (callId: string): EnginePayload => ({
  type: 'tool_call_terminated',
  tool_call_id: callId,
  outcome: 'failed',
  result: null,
  error: { code: 'permission_denied', message: 'no' },
});

const abandoned = (model: string, files?: readonly string[]): EnginePayload => ({
  type: 'attempt_abandoned',
  model,
  attempt: 1,
  error: { code: 'MODEL_UNAVAILABLE', message: 'no image' },
  retry_in_ms: 1,
  ...(files === undefined ? {} : { refused_files: [...files] }),
});

describe('SessionState', () => {
  it('remembers for each model which files it refused [SES-9]', () => {
    const state = stateOf([
      abandoned('m/1', ['a']),
      abandoned('m/1'),
      abandoned('m/1', ['b', 'a']),
      abandoned('m/2', ['c']),
    ]);
    expect(['m/1', 'm/2', 'm/3'].map((model) => state.refusedFiles(model))).toEqual([['a', 'b'], ['c'], []]);
  });

  it('says what the session is, and fails without its first event [SES-1] [SES-3]', () => {
    const state = stateOf([]);
    expect(state).toMatchObject({
      header: created,
      title: 'a title',
      mode: 'ask',
      overlay: [],
      status: 'idle',
      lastSeq: 1,
    });
    expect(state).toMatchObject({
      activeRun: null,
      lastRun: null,
      finalText: '',
      openCalls: [],
      pendingInputs: [],
      turns: [],
    });
    expect(() => new SessionState().header).toThrow('no readable first event');
  });

  it('has title, mode and overlay as they were set last [SES-1]', () => {
    const rules = [{ action: 'bash', pattern: '*', effect: 'deny' as const }];
    const state = stateOf([
      { type: 'session_title_committed', title: 'new' },
      runStarted('c1', 'yolo'),
      { type: 'permission_mode_set', mode: 'auto' },
      { type: 'permission_overlay_set', rules: [] },
      { type: 'permission_overlay_set', rules },
    ]);
    expect(state).toMatchObject({ title: 'new', mode: 'auto', overlay: rules });
    state.apply(envelope(9, runStarted('c2', 'ask'), 'r2'));
    expect(state.mode).toBe('ask');
  });

  it('follows a run from its start to its end [SES-5]', () => {
    const state = stateOf([
      runStarted('c1'),
      input('a'),
      turn('one', ['p1', 'p2']),
      started('p1'),
      started('p2'),
      denied('call-p1'),
    ]);
    expect(state.activeRun).toMatchObject({ runId: RUN, clientRunId: 'c1', startedSeq: 2, turns: 1 });
    expect(state.runByClientId('c1')).toMatchObject({ runId: RUN, ended: false, status: 'running' });
    expect(state.runByClientId('c2')).toBeUndefined();
    state.apply(envelope(8, { type: 'run_cancelled', reason: 'timeout' }));
    expect(state).toMatchObject({ status: 'idle', activeRun: null });
    expect(state.lastRun).toMatchObject({
      ended: true,
      status: 'cancelled',
      reason: 'timeout',
      finalText: 'one',
      turns: 1,
      toolCalls: 2,
      denials: 1,
    });
    expect(state.runByClientId('c1')).toMatchObject({ ended: true });
  });

  it.each([
    [
      { type: 'run_completed', final_text: 'f', turns: 1 },
      { status: 'completed', finalText: 'f' },
    ],
    [
      { type: 'run_failed', error: { code: 'x', message: 'y' } },
      { status: 'failed', error: { code: 'x' } },
    ],
    [{ type: 'run_interrupted' }, { status: 'interrupted', error: null }],
  ] as const)('ends a run with %j [SES-5]', (payload, expected) => {
    expect(stateOf([runStarted('c1'), payload]).lastRun).toMatchObject(expected);
  });

  it('ends a run whose end was lost when the next one starts [SES-3]', () => {
    const state = stateOf([runStarted('c1')]);
    state.apply(envelope(3, runStarted('c2'), 'r2'));
    expect(state.runByClientId('c1')).toMatchObject({ ended: true, status: 'interrupted' });
    expect(state.activeRun).toMatchObject({ runId: 'r2' });
    state.apply(envelope(4, { type: 'run_completed', final_text: '', turns: 0 }, RUN));
    expect(state.activeRun).toMatchObject({ runId: 'r2' });
  });

  it('knows that a run ended whose start was lost [SES-3]', () => {
    expect(stateOf([{ type: 'run_completed', final_text: 'f', turns: 3 }]).lastRun).toMatchObject({
      clientRunId: null,
      status: 'completed',
      finalText: 'f',
    });
  });

  it('reports the calls of each turn in call order, lost ones as interrupted [SCH-7]', () => {
    const state = stateOf([
      turn('a', ['p1', 'p2', 'p3']),
      started('p1'),
      started('p2'),
      ended('call-p2', 'two'),
      ended('call-p1', 'one'),
      turn('b', ['p4']),
      ended('call-lost', 'x'),
    ]);
    expect(state.turns).toMatchObject([
      [
        {
          tool_call_id: 'call-p1',
          outcome: 'completed',
          text: 'one',
          metadata: { n: 1 },
          session_id: SESSION,
          run_id: RUN,
        },
        { tool_call_id: 'call-p2', text: 'two', error: null },
        { outcome: 'interrupted', text: '', error: { code: 'interrupted' } },
      ],
      [{ outcome: 'interrupted' }],
    ]);
  });

  it('lists open calls in call order, and forgets those that never started with the next turn [SES-6]', () => {
    const state = stateOf([
      turn('a', ['p1', 'p2', 'p3']),
      started('p2'),
      started('p1'),
      ended('call-p1', 'x'),
    ]);
    expect(state.openCalls).toMatchObject([
      { providerCallId: 'p2', tool: 'read', started: { callId: 'call-p2', output: { kind: 'single' } } },
      { providerCallId: 'p3', started: null },
    ]);
    state.apply(envelope(9, turn('b')));
    expect(state.openCalls.map(({ providerCallId }) => providerCallId)).toEqual(['p2']);
  });

  it('takes a call that no turn holds as open until it ends, and as no part of a turn [SES-6]', () => {
    const state = stateOf([started('hand')]);
    expect(state.openCalls).toMatchObject([{ providerCallId: 'hand' }]);
    expect(state.hasProviderCallId('hand')).toBe(true);
    state.apply(envelope(3, ended('call-hand', 'x')));
    expect(state).toMatchObject({ openCalls: [], turns: [] });
  });

  it('takes the first of two results, and no second start [SES-3] [field J17]', () => {
    const state = stateOf([
      turn('a', ['p1']),
      started('p1'),
      ended('call-p1', 'first'),
      ended('call-p1', 'second'),
      started('p1'),
    ]);
    expect(state.turns).toMatchObject([[{ text: 'first' }]]);
    expect(state.openCalls).toEqual([]);
  });

  it('has as pending what no turn took into account and nobody recalled [SES-5]', () => {
    const state = stateOf([
      input('a', 'i1'),
      input('b', 'i2'),
      input('c', 'i3'),
      { type: 'user_input_recalled', input_id: 'i2' },
    ]);
    expect(state.pendingInputs).toEqual([
      { inputId: 'i1', text: 'a', kind: 'prompt', seq: 2 },
      { inputId: 'i3', text: 'c', kind: 'prompt', seq: 4 },
    ]);
    state.apply(envelope(6, { ...turn('t'), input_through_seq: 3 }));
    expect(state.pendingInputs.map(({ inputId }) => inputId)).toEqual(['i3']);
  });

  it('sums usage for the session and for its runs [SES-10]', () => {
    const usage = (model: string, tokens: number): EnginePayload => ({
      type: 'model_usage_recorded',
      model,
      input_tokens: tokens,
      output_tokens: 1,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      cost_usd: 0.5,
    });
    const state = stateOf([runStarted('c1'), usage('m/1', 10), usage('m/2', 20)]);
    state.apply(envelope(5, runStarted('c2'), 'r2'));
    state.apply(envelope(6, usage('m/1', 40), 'r2'));
    expect(state.usage.total).toMatchObject({ turns: 3, input_tokens: 70, cost_usd: 1.5 });
    expect(state.usage.models).toMatchObject({ 'm/1': { input_tokens: 50 }, 'm/2': { input_tokens: 20 } });
    expect(state.runByClientId('c1')?.usage.total).toMatchObject({ input_tokens: 30 });
    expect(state.lastRun?.usage.total).toMatchObject({ input_tokens: 40 });
  });

  it('passes over events of types that it does not know [EVT-1]', () => {
    const state = stateOf([
      { type: 'goal_set', objective: 'o' },
      { type: '__proto__' },
      { type: 'toString' },
    ]);
    expect(state).toMatchObject({ lastSeq: 4, status: 'idle' });
  });

  it('is the same event by event as at once [SES-1]', () => {
    const view = (state: SessionState) => [
      state.activeRun,
      state.lastRun,
      state.openCalls,
      state.pendingInputs,
      state.turns,
      state.usage,
      state.finalText,
      state.lastSeq,
    ];
    fc.assert(
      fc.property(scripts, (script) => {
        const events: readonly EventEnvelope[] = eventsOf(script);
        const state = new SessionState();
        for (const event of events) {
          state.apply(event);
          view(state);
        }
        expect(JSON.stringify(view(state))).toBe(JSON.stringify(view(SessionState.of(events))));
      }),
      { numRuns: 50 },
    );
  });

  it('costs about as much an event in a long session as in a short one', () => {
    const payloads = (count: number): Said[] =>
      Array.from({ length: count }, (_, index) => [
        turn(`${index}`, [`p${index}`]),
        started(`p${index}`),
        ended(`call-p${index}`, 'x'),
      ]).flat();
    const cost = (count: number): number => {
      const events = [created, ...payloads(count)].map((payload, index) => envelope(index + 1, payload));
      return processorMs(() => SessionState.of(events)) / count;
    };
    const least = (count: number): number => Math.min(...[1, 2, 3].map(() => cost(count)));
    const short = least(2000);
    // Twenty times as long: would an event cost what came before it, this were twenty times as much.
    expect(least(40_000)).toBeLessThan(8 * short + 0.01);
  });
});
