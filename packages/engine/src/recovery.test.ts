import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  DEFAULT_OUTPUT_LIMITS,
  type CaptureRequest,
  type EventEnvelope,
  type OutputStore,
} from '@agentd/contract';
import { memoryOutputStore } from '@agentd/contract/testing';
import { created, envelope, input, RUN } from './file/testing/sample-events.ts';
import { eventSchemas, type EngineEvent, type EnginePayload } from './events.ts';
import { modelMessages } from './history.ts';
import { recover } from './recovery.ts';
import { SessionState } from './session-state.ts';
import { eventsOf, scripts } from './testing/session-script.ts';

type Recover = OutputStore['recover'];

/** A session that was opened with these events, and recovery as often as the test wants it. */
function setup(events: readonly EventEnvelope[], recoverOutput: Recover = async () => null) {
  const state = SessionState.of(events);
  const written: EngineEvent[] = [];
  const steps: string[] = [];
  const sink = {
    append: (payload: EnginePayload) => {
      const event = envelope(state.lastSeq + 1, payload, state.activeRun?.runId ?? null) as EngineEvent;
      state.apply(event);
      written.push(event);
      steps.push(payload.type);
      return event;
    },
    sync: async () => void steps.push('sync'),
  };
  const outputs = { ...memoryOutputStore(), recover: recoverOutput };
  const run = () => recover({ state, sink, outputs, limits: DEFAULT_OUTPUT_LIMITS });
  return { run, state, steps, written };
}

const started = (id: string, output: unknown): EnginePayload =>
  ({
    type: 'tool_call_started',
    tool_call_id: id,
    provider_call_id: `p-${id}`,
    tool: 'bash',
    args: {},
    action: 'bash',
    label: 'ls',
    output,
  }) as EnginePayload;

const named = { kind: 'named', streams: ['stdout', 'stderr'] };

/** A run that was cut off with two calls running, one not started, and a question to the user. */
const crashed: readonly EventEnvelope[] = [
  created,
  {
    type: 'run_started',
    client_run_id: 'c',
    trigger: 'user',
    agent: 'a',
    model: 'm',
    tools: [],
    prompt_sha256: '',
    mode: 'ask',
  } as const,
  input('go'),
  {
    type: 'model_turn_committed',
    model: 'm/1',
    content: ['c1', 'c2', 'c3'].map((id) => ({
      type: 'tool_call',
      provider_call_id: `p-${id}`,
      tool: 'bash',
      input: {},
    })),
    finish_reason: 'tool_calls',
    input_through_seq: 3,
  } as EnginePayload,
  started('c1', named),
  started('c2', null),
  {
    type: 'approval_requested',
    approval_id: 'q1',
    tool_call_id: 'c2',
    action: 'bash',
    label: 'ls',
    operation_sha256: '',
    expires_at: null,
  } as const,
].map((payload, index) => envelope(index + 1, payload, RUN));

/** Publishes some text for every call, and keeps what it was asked. */
function publishing() {
  const store = memoryOutputStore();
  const asked: CaptureRequest[] = [];
  const recoverOutput: Recover = async (request) => {
    asked.push(request);
    const capture = await store.capture(request);
    await capture.accept([{ stream: 'stdout', text: `of ${request.callId}` }]);
    return capture.finish({ incomplete: true });
  };
  return { asked, recoverOutput, store };
}

describe('recover', () => {
  it('ends each started call as interrupted with what was captured, and the run [SES-6]', async () => {
    const { asked, recoverOutput } = publishing();
    const { run, state, written } = setup(crashed, recoverOutput);
    await run();
    expect(asked).toEqual([{ callId: 'c1', declaration: named, limits: DEFAULT_OUTPUT_LIMITS }]);
    expect(written.map(({ payload }) => payload)).toMatchObject([
      { type: 'approval_finalized', approval_id: 'q1', decision: 'cancelled', source: 'policy' },
      {
        type: 'tool_call_terminated',
        tool_call_id: 'c1',
        outcome: 'interrupted',
        result: { text: expect.stringContaining('of c1'), retained_output: { incomplete: true } },
        error: { code: 'interrupted' },
      },
      { type: 'tool_call_terminated', tool_call_id: 'c2', outcome: 'interrupted', result: null },
      { type: 'run_interrupted' },
    ]);
    expect(state).toMatchObject({ status: 'idle', lastRun: { runId: RUN, status: 'interrupted' } });
  });

  it('writes what its schemas say [EVT-2]', async () => {
    const { run, written } = setup(crashed, publishing().recoverOutput);
    await run();
    for (const { payload } of written)
      expect(eventSchemas[payload.type].safeParse(payload)).toMatchObject({ success: true });
  });

  it('leaves a history in which every call has its result, the one that never started too [SES-6] [field I1]', async () => {
    const { run, state } = setup(crashed, publishing().recoverOutput);
    await run();
    const results = modelMessages(state).flatMap((message) =>
      message.role === 'tool' ? message.content : [],
    );
    expect(results.map(({ provider_call_id: id }) => id)).toEqual(['p-c1', 'p-c2', 'p-c3']);
    for (const { is_error, text } of results) {
      expect(is_error).toBe(true);
      expect(text).toContain('error: interrupted: ');
    }
    expect(results[0]?.text).toContain('of c1');
  });

  it('lets the guards of outputs go only after the events that name them are on disk [SES-6]', async () => {
    const { recoverOutput, store } = publishing();
    const { run, steps } = setup(crashed, async (request) => {
      const result = await recoverOutput(request);
      return result && { ...result, release: async () => (steps.push('release'), result.release()) };
    });
    await run();
    expect(steps.slice(-2)).toEqual(['sync', 'release']);
    expect(store.unreleased()).toBe(0);
  });

  it('opens the session also where the output of a call cannot be had, and says so [SES-6]', async () => {
    const { run, written } = setup(crashed, async () => {
      throw new Error('EIO: i/o error, read');
    });
    await run();
    expect(written.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({
        tool_call_id: 'c1',
        outcome: 'interrupted',
        error: { code: 'interrupted', message: expect.stringContaining('EIO') },
      }),
    );
  });

  it('finds nothing to do the second time, nor in a session that ended well [SES-6]', async () => {
    const { run, written } = setup(crashed, publishing().recoverOutput);
    await run();
    const { length } = written;
    await run();
    expect(written).toHaveLength(length);
    const idle = setup([envelope(1, created, null)]);
    await idle.run();
    expect(idle.written).toEqual([]);
  });

  it('comes to the same end wherever it is itself cut off: each call ends once, the run ends once [SES-6]', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, fc.nat(200), async (script, cut) => {
        const events = eventsOf(script).slice(0, 1 + cut);
        const whole = setup(events);
        await whole.run();
        for (let kept = 0; kept <= whole.written.length; kept++) {
          const survived = [...events, ...(whole.written.slice(0, kept) as EventEnvelope[])];
          const again = setup(survived);
          await again.run();
          assertClosed([...survived, ...(again.written as EventEnvelope[])], again.state);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function assertClosed(events: readonly EventEnvelope[], state: SessionState): void {
  const ids = (type: string): string[] =>
    events
      .filter(({ payload }) => payload.type === type)
      .map(({ payload }) => JSON.stringify(payload['tool_call_id']));
  expect(ids('tool_call_terminated').toSorted()).toEqual(ids('tool_call_started').toSorted());
  expect(state.openCalls.filter((call) => call.started !== null)).toEqual([]);
  expect(state.status).toBe('idle');
  const ends = events.filter(({ payload }) => /^run_(?!started)/.test(payload.type));
  expect(new Set(ends.map(({ run_id }) => run_id)).size).toBe(ends.length);
}
