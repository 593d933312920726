import { describe, expect, it } from '@jest/globals';
import { modelError } from '@agentd/contract';
import { flush, turnParts } from '@agentd/contract/testing';
import {
  engineHarness,
  heldTool,
  instantTool,
  payloadsOf,
  runInit,
  runToEnd,
  until,
} from './testing/engine-harness.ts';
import { assertValidRequest } from './testing/assert-valid-request.ts';

const look = (label: string, id = `c-${label}`) => ({ id, tool: 'look', args: { label } });

describe('a run', () => {
  it('goes from input over calls to a turn without calls [SES-5] [EVT-2]', async () => {
    const { create, model, types } = engineHarness({
      turns: [turnParts('Let me see.', [look('a')]), turnParts('Done.')],
      tools: [instantTool()],
    });
    const session = await create();
    const end = await runToEnd(session);
    expect(end).toMatchObject({
      status: 'completed',
      reason: null,
      error: null,
      finalText: 'Done.',
      turns: 2,
      toolCalls: 1,
      denials: 0,
    });
    expect(types()).toEqual([
      'session_created',
      'run_started',
      'user_input_submitted',
      'model_turn_committed',
      'model_usage_recorded',
      'tool_call_started',
      'tool_call_terminated',
      'model_turn_committed',
      'model_usage_recorded',
      'run_completed',
    ]);
    expect(model.requests[1]?.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      {
        role: 'assistant',
        model: 'test/a',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_call', provider_call_id: 'c-a', tool: 'look', input: { label: 'a' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool_result', provider_call_id: 'c-a', tool: 'look', text: 'did a', is_error: false },
        ],
      },
    ]);
  });

  it('says in its first event what it runs with [EVT-2]', async () => {
    const { create, shown } = engineHarness({ turns: [turnParts('Hi.')], tools: [instantTool()] });
    const session = await create();
    await runToEnd(session, { clientRunId: 'mine' });
    expect(payloadsOf(shown, 'run_started')).toEqual([
      {
        type: 'run_started',
        client_run_id: 'mine',
        trigger: 'user',
        agent: 'default',
        model: 'test/a',
        tools: ['look'],
        prompt_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        mode: 'ask',
      },
    ]);
    expect(session.handle).toMatch(/^default_[0-9a-f]{8}$/);
    expect(payloadsOf(shown, 'session_created')[0]?.handle).toBe(session.handle);
  });

  it('answers only when the start and the input are on disk [SES-2]', async () => {
    const { create, memory, model } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    const { release } = memory.holdSyncs();
    let answered = false;
    const starting = session.startRun(runInit()).finally(() => (answered = true));
    await flush();
    expect(answered).toBe(false);
    expect(model.requests).toEqual([]);
    release();
    const { done } = await starting;
    expect(memory.synced(session.id).map(({ payload }) => payload.type)).toEqual(
      expect.arrayContaining(['run_started', 'user_input_submitted']),
    );
    await done;
  });

  it('ends for its caller only when the terminal event is on disk [SES-2]', async () => {
    const { create, memory, model } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    const { done } = await session.startRun(runInit());
    const { release } = memory.holdSyncs();
    let ended = false;
    void done.then(() => (ended = true));
    await until(() => memory.appended(session.id).at(-1)?.payload.type === 'run_completed');
    await flush();
    expect([ended, model.requests.length]).toEqual([false, 1]);
    release();
    await done;
    expect(memory.synced(session.id).at(-1)?.payload.type).toBe('run_completed');
  });

  it('is started once for one client run id, also while it starts and after it ended [SES-2] [SES-5]', async () => {
    const { create, types } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    const [first, second] = await Promise.all([session.startRun(runInit()), session.startRun(runInit())]);
    expect([first.existing, second.existing, second.runId]).toEqual([false, true, first.runId]);
    expect(await second.done).toEqual(await first.done);
    const third = await session.startRun(runInit({ input: 'something else' }));
    expect([third.existing, third.runId]).toEqual([true, first.runId]);
    expect(await third.done).toEqual(await first.done);
    expect(types().filter((type) => type === 'run_started')).toHaveLength(1);
  });

  it('refuses a second run beside it, and has written nothing of that', async () => {
    const held = heldTool('look', { hold: true });
    const { create, memory } = engineHarness({
      turns: [turnParts('', [look('a')]), turnParts('Done.')],
      tools: [held.tool],
    });
    const session = await create();
    const starting = session.startRun(runInit());
    await expect(session.startRun(runInit({ clientRunId: 'other' }))).rejects.toMatchObject({
      code: 'ENGINE_RUN_ACTIVE',
    });
    const { done } = await starting;
    await until(() => held.started.length === 1);
    const before = memory.appended(session.id).length;
    await expect(session.startRun(runInit({ clientRunId: 'other' }))).rejects.toMatchObject({
      code: 'ENGINE_RUN_ACTIVE',
    });
    expect(memory.appended(session.id)).toHaveLength(before);
    held.release('a');
    await done;
    expect(await runToEndAgain(session)).toBe('failed');
  });

  it.each([
    [{ agent: 'nobody' }, 'ENGINE_AGENT_UNKNOWN'],
    [{ models: ['no/such'] }, 'ENGINE_MODEL_UNKNOWN'],
    [{ models: [] }, 'ENGINE_MODEL_UNKNOWN'],
    [{ input: ' \n' }, 'ENGINE_INPUT_EMPTY'],
  ])('that cannot be: %j has written nothing, and the next one can start', async (init, code) => {
    const { create, memory } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    await expect(session.startRun(runInit(init))).rejects.toMatchObject({ code });
    expect(memory.appended(session.id)).toHaveLength(1);
    expect((await runToEnd(session)).status).toBe('completed');
  });

  it('with two tools of one name has written nothing [ARG-1]', async () => {
    const { create, memory } = engineHarness({
      turns: [turnParts('Hi.')],
      tools: [instantTool(), instantTool()],
    });
    const session = await create();
    await expect(session.startRun(runInit())).rejects.toMatchObject({ code: 'ENGINE_TOOL_NAME_TAKEN' });
    expect(memory.appended(session.id)).toHaveLength(1);
  });

  it('goes on after a denial, and counts it [PERM-6]', async () => {
    const held = heldTool('look');
    const { create, model } = engineHarness({
      turns: [turnParts('', [look('a'), look('b')]), turnParts('Then not.')],
      tools: [held.tool],
      permissions: { read: 'ask' },
    });
    expect(await runToEnd(await create())).toMatchObject({ status: 'completed', denials: 2, toolCalls: 2 });
    expect(held.started).toEqual([]);
    assertValidRequest(model.requests[1]!);
  });

  it('runs what asks when the mode is yolo, from the next turn on [PERM-6]', async () => {
    const held = heldTool('look');
    const { create } = engineHarness({
      turns: [turnParts('', [look('a')]), turnParts('', [look('b')]), turnParts('Done.')],
      tools: [held.tool],
      permissions: { read: 'ask' },
      approver: {
        ask: async () => {
          await session.setMode('yolo');
          return { decision: 'once', source: 'user', feedback: null };
        },
      },
    });
    const session = await create();
    expect(await runToEnd(session)).toMatchObject({ status: 'completed', denials: 0 });
    expect(held.started).toEqual(['a', 'b']);
  });

  it('stops at its limit of turns, with every call answered [SES-5]', async () => {
    const { create, memory, model } = engineHarness({
      turns: [turnParts('', [look('a')]), turnParts('', [look('b')]), turnParts('never')],
      tools: [instantTool()],
    });
    const session = await create();
    expect(await runToEnd(session, { maxTurns: 2 })).toMatchObject({
      status: 'cancelled',
      reason: 'turn_limit',
      turns: 2,
      toolCalls: 2,
    });
    expect(model.requests).toHaveLength(2);
    expect(payloadsOf(memory.synced(session.id), 'tool_call_terminated')).toHaveLength(2);
  });

  it('stops at its limit of time, whatever it waits for [SES-5]', async () => {
    const held = heldTool('look', { hold: true });
    const { clock, create, shown } = engineHarness({
      turns: [turnParts('', [look('a')])],
      tools: [held.tool],
    });
    const session = await create();
    const { done } = await session.startRun(runInit({ timeoutMs: 5000 }));
    await until(() => held.started.length === 1);
    clock.advance(5000);
    expect(await done).toMatchObject({ status: 'cancelled', reason: 'timeout', durationMs: 5000 });
    expect(payloadsOf(shown, 'run_cancelled')).toEqual([{ type: 'run_cancelled', reason: 'timeout' }]);
    expect(clock.pending()).toBe(0);
  });

  it.each([
    ['a model that refuses', modelError('MODEL_REFUSED', 'no such model'), 'MODEL_REFUSED'],
    ['a client with a bug', new TypeError('x is undefined'), 'ENGINE_DEFECT'],
  ])('fails cleanly on %s, and the session goes on [SES-5]', async (_name, error, code) => {
    const { create, model, types } = engineHarness({ turns: [error, turnParts('Better.')] });
    const session = await create();
    expect(await runToEnd(session)).toMatchObject({ status: 'failed', error: { code } });
    expect(types().at(-1)).toBe('run_failed');
    expect(await runToEnd(session, { clientRunId: 'run-2', input: 'again' })).toMatchObject({
      status: 'completed',
      finalText: 'Better.',
    });
    assertValidRequest(model.requests[1]!);
  });

  it('says what helps when the conversation no longer fits [SES-9]', async () => {
    const { create } = engineHarness({ turns: [modelError('MODEL_CONTEXT_OVERFLOW', 'too long')] });
    expect(await runToEnd(await create())).toMatchObject({
      status: 'failed',
      error: { code: 'MODEL_CONTEXT_OVERFLOW', message: expect.stringContaining('start a new session') },
    });
  });

  it('keeps nothing of an attempt that broke off, though it was shown [SES-9]', async () => {
    const cut = [{ type: 'text-delta' as const, id: '0', text: 'I will del' }];
    const { clock, create, live, model, shown } = engineHarness({
      turns: [cut, turnParts('I will keep it.'), turnParts('Yes.')],
    });
    const session = await create();
    const { done } = await session.startRun(runInit());
    await until(() => clock.pending() === 2);
    clock.advance(1250);
    expect((await done).finalText).toBe('I will keep it.');
    await runToEnd(session, { clientRunId: 'run-2' });
    expect(JSON.stringify(live)).toContain('I will del');
    expect(JSON.stringify(model.requests)).not.toContain('I will del');
    expect(JSON.stringify(shown)).not.toContain('I will del');
  });

  it('fails when the log can no longer be written, and says so [SES-2]', async () => {
    const held = heldTool('look', { hold: true });
    const { create, memory, types } = engineHarness({
      turns: [turnParts('', [look('a')]), turnParts('never')],
      tools: [held.tool],
    });
    const session = await create();
    const { done } = await session.startRun(runInit());
    await until(() => held.started.length === 1);
    memory.failSyncs();
    held.release('a');
    expect(await done).toMatchObject({ status: 'failed', error: { code: 'ENGINE_LOG_FAILED' } });
    expect(types()).not.toContain('run_failed');
    await expect(session.startRun(runInit({ clientRunId: 'run-2' }))).rejects.toMatchObject({
      code: 'ENGINE_LOG_FAILED',
    });
  });

  it('records usage for every turn, with its cost where prices are known, and sums it [SES-10]', async () => {
    const usage = {
      input_tokens: 1000,
      output_tokens: 100,
      cache_read_tokens: 400,
      cache_write_tokens: 0,
      reasoning_tokens: 20,
    };
    const said = { type: 'text-delta', id: '0', text: 'Hi.' } as const;
    const { create, shown } = engineHarness({
      turns: [
        [...turnParts('', [look('a')]).slice(0, -1), { type: 'finish', reason: 'tool_calls', usage }],
        [said, { type: 'finish', reason: 'stop', usage }],
      ],
      tools: [instantTool()],
      info: { pricing: { input: 10, output: 50, cacheRead: 1 } },
    });
    const session = await create();
    const end = await runToEnd(session);
    const cost = (600 * 10 + 400 * 1 + 100 * 50) / 1_000_000;
    const recorded = payloadsOf(shown, 'model_usage_recorded');
    expect(recorded).toHaveLength(2);
    expect(recorded[0]).toEqual({
      type: 'model_usage_recorded',
      model: 'test/a',
      ...usage,
      cost_usd: expect.closeTo(cost, 10),
    });
    expect(end.usage.total).toMatchObject({
      input_tokens: 2000,
      output_tokens: 200,
      cache_read_tokens: 800,
      reasoning_tokens: 40,
      cost_usd: expect.closeTo(2 * cost, 10),
    });
    expect(session.state.usage.models['test/a']).toMatchObject({ input_tokens: 2000, turns: 2 });
  });
});

describe('sessions', () => {
  it('are created with mode and rules on disk, and shown from the first event on [SES-2]', async () => {
    const { engine, listener, memory, shown } = engineHarness();
    const overlay = [{ action: 'bash', pattern: 'ls', effect: 'allow' } as const];
    const session = await engine.createSession({
      cwd: '/project',
      agent: 'default',
      title: 'A title',
      mode: 'yolo',
      overlay,
      listener,
    });
    expect(shown).toEqual(memory.synced(session.id));
    expect(session.state).toMatchObject({ title: 'A title', mode: 'yolo', overlay });
  });

  it('of an unknown agent are not created', async () => {
    const { engine } = engineHarness();
    await expect(engine.createSession({ cwd: '/project', agent: 'nobody' })).rejects.toMatchObject({
      code: 'ENGINE_AGENT_UNKNOWN',
      message: expect.stringContaining('default'),
    });
    expect(await engine.listSessions()).toEqual([]);
  });

  it('that could not be made let their lock go', async () => {
    const { engine, memory } = engineHarness();
    memory.failSyncs();
    await expect(
      engine.createSession({ cwd: '/project', agent: 'default', mode: 'yolo' }),
    ).rejects.toMatchObject({
      code: 'ENGINE_LOG_FAILED',
    });
    const [only] = await engine.listSessions();
    expect(memory.isOpen(only!.sessionId)).toBe(false);
  });

  it('can be read while a run is active, and a second opening is refused [SES-4]', async () => {
    const held = heldTool('look', { hold: true });
    const { create, engine } = engineHarness({ turns: [turnParts('', [look('a')])], tools: [held.tool] });
    const session = await create();
    await session.startRun(runInit());
    await until(() => held.started.length === 1);
    const { state } = await engine.readSession(session.id);
    expect(state.status).toBe('running');
    await expect(engine.openSession(session.id)).rejects.toMatchObject({ code: 'ENGINE_SESSION_LOCKED' });
    await engine.stop();
  });

  it('that are unknown cannot be opened or read', async () => {
    const { engine } = engineHarness();
    await expect(engine.openSession('nowhere')).rejects.toMatchObject({ code: 'ENGINE_SESSION_NOT_FOUND' });
    await expect(engine.readSession('nowhere')).rejects.toMatchObject({ code: 'ENGINE_SESSION_NOT_FOUND' });
  });
});

/** The harness has no turn left, so a run that may start fails. */
async function runToEndAgain(session: Parameters<typeof runToEnd>[0]) {
  return (await runToEnd(session, { clientRunId: 'run-again' })).status;
}
