import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool, modelError, type ToolProvider } from '@agentd/contract';
import { flush, sequenceModel, turnParts } from '@agentd/contract/testing';
import { assertValidRequest } from './testing/assert-valid-request.ts';
import {
  engineHarness,
  heldTool,
  instantTool,
  payloadsOf,
  runInit,
  runToEnd,
  until,
} from './testing/engine-harness.ts';

const look = (label: string, id = `c-${label}`) => ({ id, tool: 'look', args: { label } });

describe('what is published', () => {
  const tools = [instantTool('look', 'read'), instantTool('change', 'write'), instantTool('say', 'bash')];

  it('is what the permissions allow or ask for [ARG-1]', async () => {
    const { create, model } = engineHarness({
      turns: [turnParts('Hi.')],
      tools,
      permissions: { read: 'allow', write: 'ask', bash: 'deny' },
    });
    const session = await create();
    await runToEnd(session);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look', 'change']);
    expect((await session.publishedTools()).map(({ name }) => name)).toEqual(['look', 'change']);
  });

  it('follows the overlay of the session [ARG-1]', async () => {
    const { create, model } = engineHarness({ turns: [turnParts('Hi.')], tools });
    const session = await create();
    await session.setOverlay([{ action: 'bash', pattern: 'git *', effect: 'allow' }]);
    await runToEnd(session);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look', 'say']);
  });

  it('is nothing for a model without tool calling, its prompt section included [ARG-1]', async () => {
    const provider: ToolProvider = {
      id: 'test.tools',
      tools: async () => tools,
      promptSection: async () => 'Use look.',
    };
    const { create, model, shown } = engineHarness({
      turns: [turnParts('Hi.')],
      providers: [provider],
      info: { toolCalling: false },
    });
    await runToEnd(await create());
    expect(model.requests[0]?.tools).toEqual([]);
    expect(model.requests[0]?.system).not.toContain('tool_instructions');
    expect(payloadsOf(shown, 'run_started')[0]?.tools).toEqual([]);
  });

  it('is decided anew for the model that a run falls back to [ARG-1] [SES-9]', async () => {
    const plain = sequenceModel([turnParts('Hi.'), turnParts('Hi again.')], {
      id: 'test/plain',
      toolCalling: false,
    });
    const { create, model, types } = engineHarness({
      turns: [modelError('MODEL_AUTH', 'bad key')],
      models: { 'test/plain': plain },
      tools,
    });
    const end = await runToEnd(await create(), { models: ['test/a', 'test/plain'] });
    expect(end).toMatchObject({ status: 'completed', finalText: 'Hi.' });
    expect(model.requests[0]?.tools).not.toEqual([]);
    expect(plain.requests[0]?.tools).toEqual([]);
    expect(types()).toContain('model_fallback');
  });
});

describe('the request', () => {
  it('carries prompt, session, reports of earlier turns and the bound of the agent', async () => {
    const { create, model } = engineHarness({
      turns: [turnParts('', [look('a')]), turnParts('Done.')],
      tools: [instantTool()],
      agent: { maxOutputTokens: 100_000 },
    });
    const session = await create();
    await runToEnd(session);
    const [first, second] = model.requests;
    expect(first?.system).toBe(
      'You help.\n\n---\n\n<working_directory>/project</working_directory>\n' +
        'Relative paths of tool calls start in this directory.',
    );
    expect(first?.maxOutputTokens).toBe(8192);
    expect(first?.session).toEqual({ id: session.id, agent: 'default', turns: [] });
    expect(second?.session.turns).toMatchObject([[{ outcome: 'completed', text: 'did a' }]]);
  });

  it("begins with the workspace's notes, which are recorded when they changed alone [CFG-1]", async () => {
    let text = 'Use tabs.';
    const { create, model, shown } = engineHarness({
      turns: ['1', '2', '3'].map((said) => turnParts(said)),
      notes: async (cwd) => ({ path: `${cwd}/AGENTS.md`, text }),
    });
    const session = await create();
    await runToEnd(session);
    await runToEnd(session, { clientRunId: 'run-2' });
    expect(payloadsOf(shown, 'agents_md_loaded')).toEqual([
      {
        type: 'agents_md_loaded',
        path: '/project/AGENTS.md',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        text: 'Use tabs.',
      },
    ]);
    const [notes] = model.requests[1]!.messages;
    expect(notes).toMatchObject({ role: 'user' });
    expect(JSON.stringify(notes)).toContain('Use tabs.');
    text = 'Use spaces.';
    await runToEnd(session, { clientRunId: 'run-3' });
    expect(payloadsOf(shown, 'agents_md_loaded')).toHaveLength(2);
    expect(JSON.stringify(model.requests[2])).toContain('Use spaces.');
    model.requests.forEach(assertValidRequest);
  });
});

describe('steering', () => {
  it('comes after all results of the turn that was under way [SES-5] [field G4]', async () => {
    const held = heldTool('look', { hold: true });
    const { create, model } = engineHarness({
      turns: [turnParts('', [look('fast'), look('slow')]), turnParts('Done.')],
      tools: [held.tool],
    });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => held.started.length === 2);
    held.release('fast');
    await until(() => session.state.openCalls.length === 1);
    await session.steer(runId, 'rather blue');
    held.release('slow');
    await done;
    expect(model.requests[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ provider_call_id: 'c-fast' }, { provider_call_id: 'c-slow' }] },
      { role: 'tool', content: [{ text: 'did fast' }, { text: 'did slow' }] },
      { role: 'user', content: [{ text: 'rather blue' }] },
    ]);
  });

  it('while the model answers comes after that answer, and is answered before the run ends [SES-5] [CLI-4]', async () => {
    const gate = Promise.withResolvers<void>();
    const { create, model } = engineHarness({
      turns: [
        async function* () {
          await gate.promise;
          yield* turnParts('First.');
        },
        turnParts('Second.'),
      ],
    });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => model.requests.length === 1);
    await session.steer(runId, 'one more thing');
    gate.resolve();
    expect(await done).toMatchObject({ status: 'completed', finalText: 'Second.', turns: 2 });
    expect(model.requests[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ text: 'First.' }] },
      { role: 'user', content: [{ text: 'one more thing' }] },
    ]);
  });

  it('is refused once the end of the run is written, on disk or not [SES-2]', async () => {
    const { create, memory } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    const { release } = memory.holdSyncs();
    await until(() => memory.appended(session.id).at(-1)?.payload.type === 'run_completed');
    await expect(session.steer(runId, 'too late')).rejects.toMatchObject({ code: 'ENGINE_RUN_NOT_ACTIVE' });
    release();
    await done;
  });

  it('says nothing of white space', async () => {
    const { create } = engineHarness();
    const session = await create();
    await expect(session.steer('any', '\t')).rejects.toMatchObject({ code: 'ENGINE_INPUT_EMPTY' });
  });
});

describe('cancelling', () => {
  it('resolves once the terminal event is on disk, and again afterwards [SES-2]', async () => {
    const held = heldTool('look', { hold: true });
    const { create, memory } = engineHarness({ turns: [turnParts('', [look('a')])], tools: [held.tool] });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => held.started.length === 1);
    await session.cancel(runId, 'user');
    expect(memory.synced(session.id).at(-1)?.payload).toEqual({ type: 'run_cancelled', reason: 'user' });
    await session.cancel(runId, 'user');
    expect(await done).toMatchObject({ status: 'cancelled', reason: 'user' });
    await expect(session.cancel('another', 'user')).rejects.toMatchObject({ code: 'ENGINE_RUN_NOT_ACTIVE' });
  });

  it('cuts a wait between attempts short [SES-9]', async () => {
    const { clock, create } = engineHarness({ turns: [modelError('MODEL_OVERLOADED', 'busy')] });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => clock.pending() === 2);
    await session.cancel(runId, 'user');
    expect((await done).reason).toBe('user');
    expect(clock.pending()).toBe(0);
  });
});

describe('settings of a session', () => {
  it('are on disk when the caller is told so, and hold for the next run [SES-2]', async () => {
    const { create, memory, shown } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    await session.setMode('yolo');
    expect(memory.synced(session.id).at(-1)?.payload).toEqual({ type: 'permission_mode_set', mode: 'yolo' });
    await runToEnd(session);
    expect(payloadsOf(shown, 'run_started')[0]?.mode).toBe('yolo');
  });
});

describe('a call by hand', () => {
  const { signal } = new AbortController();
  const call = (init: { clientRunId?: string; tool?: string; args?: string } = {}) => ({
    clientRunId: 'hand-1',
    tool: 'look',
    args: '{"label":"a"}',
    ...init,
  });

  it('is one run with this one call, and no model knows of it [CLI-6]', async () => {
    const { create, model, types } = engineHarness({ turns: [turnParts('Hi.')], tools: [instantTool()] });
    const session = await create();
    const report = await session.callTool(call(), signal);
    expect(report).toMatchObject({
      outcome: 'completed',
      text: 'did a',
      error: null,
      session_id: session.id,
      run_id: session.state.lastRun?.runId,
    });
    expect(types().slice(1)).toEqual([
      'run_started',
      'tool_call_started',
      'tool_call_terminated',
      'run_completed',
    ]);
    await runToEnd(session);
    assertValidRequest(model.requests[0]!);
    expect(model.requests[0]?.messages).toHaveLength(1);
    expect(model.requests[0]?.session.turns).toEqual([]);
  });

  it.each(['', '{', '[1]', '"a"', '{"label":5}'])(
    'with the arguments %j ends as invalid_arguments, and its run is closed [CLI-6] [ARG-3]',
    async (args) => {
      const { create, types } = engineHarness({ tools: [instantTool()] });
      const session = await create();
      const report = await session.callTool(call({ args }), signal);
      expect(report).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
      expect(types().at(-1)).toBe('run_completed');
      expect(session.state.status).toBe('idle');
    },
  );

  it.each([['[1]'], [`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`]])(
    'with JSON that is no proper object: %# is told that one is wanted [CLI-6] [ARG-3]',
    async (args) => {
      const { create } = engineHarness({ tools: [instantTool()] });
      const report = await (await create()).callTool(call({ args }), signal);
      expect(report.error).toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining('must be one JSON object, nested at most 100 levels deep'),
      });
    },
  );

  it('of a tool that is not published says which are [CLI-6]', async () => {
    const { create } = engineHarness({ tools: [instantTool(), instantTool('change', 'write')] });
    const report = await (await create()).callTool(call({ tool: 'change' }), signal);
    expect(report.error).toMatchObject({ code: 'not_published', message: expect.stringContaining('look') });
  });

  it('never runs twice for one client run id', async () => {
    const held = heldTool('look');
    const { create } = engineHarness({ tools: [held.tool] });
    const session = await create();
    await session.callTool(call(), signal);
    await expect(session.callTool(call(), signal)).rejects.toMatchObject({ code: 'ENGINE_RUN_ID_USED' });
    expect(held.started).toEqual(['a']);
  });

  it('can be cancelled, and then its run is [SCH-10]', async () => {
    const held = heldTool('look', { hold: true });
    const abort = new AbortController();
    const { create, types } = engineHarness({ tools: [held.tool] });
    const session = await create();
    const calling = session.callTool(call(), abort.signal);
    await until(() => held.started.length === 1);
    abort.abort();
    expect((await calling).outcome).toBe('cancelled');
    expect(types().at(-1)).toBe('run_cancelled');
  });
});

describe('input for an interactive call', () => {
  const ask = defineTool({
    name: 'ask',
    description: 'Reads a name.',
    action: 'read',
    schema: z.strictObject({}),
    prepare: async () => ({
      permission: { action: 'read', label: 'ask' },
      operation: null,
      execute: async ({ stdin }) => {
        let text = '';
        for await (const chunk of stdin ?? []) text += Buffer.from(chunk).toString();
        return { output: { kind: 'single', text: `hello ${text}` } };
      },
    }),
  });
  const turns = () => [turnParts('', [{ id: 'c', tool: 'ask', args: {} }]), turnParts('Done.')];

  it('reaches the call while it runs, and is refused afterwards [BASH-3]', async () => {
    const { create, shown } = engineHarness({ turns: turns(), tools: [ask] });
    const session = await create();
    const { runId, done } = await session.startRun(runInit({ acceptsStdin: true }));
    await until(() => payloadsOf(shown, 'tool_call_started').length === 1);
    const { tool_call_id: callId } = payloadsOf(shown, 'tool_call_started')[0]!;
    await until(() => session.state.openCalls.length === 1);
    expect(await session.toolStdin(runId, { callId, data: Buffer.from('you'), eof: true })).toBe(true);
    await done;
    expect(payloadsOf(shown, 'tool_call_terminated')[0]?.result?.text).toBe('hello you');
    await expect(session.toolStdin(runId, { callId, data: null, eof: true })).rejects.toMatchObject({
      code: 'ENGINE_RUN_NOT_ACTIVE',
    });
  });

  it('is none where nobody can send any', async () => {
    const { create, shown } = engineHarness({ turns: turns(), tools: [ask] });
    await runToEnd(await create());
    expect(payloadsOf(shown, 'tool_call_terminated')[0]?.result?.text).toBe('hello ');
  });
});

describe('closing', () => {
  it('cancels what is active, waits for its end and lets the lock go', async () => {
    const held = heldTool('look', { hold: true });
    const { engine, create, memory } = engineHarness({
      turns: [turnParts('', [look('a')])],
      tools: [held.tool],
    });
    const session = await create();
    const { done } = await session.startRun(runInit());
    await until(() => held.started.length === 1);
    await engine.stop();
    expect(await done).toMatchObject({ status: 'cancelled', reason: 'signal' });
    expect(memory.synced(session.id).at(-1)?.payload.type).toBe('run_cancelled');
    expect(memory.isOpen(session.id)).toBe(false);
    await expect(session.startRun(runInit({ clientRunId: 'run-2' }))).rejects.toMatchObject({
      code: 'ENGINE_SHUTTING_DOWN',
    });
    await expect(engine.openSession(session.id)).rejects.toMatchObject({ code: 'ENGINE_SHUTTING_DOWN' });
  });

  it('ends a run that is about to start', async () => {
    const { create, memory } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await create();
    const starting = session.startRun(runInit());
    const closing = session.close();
    await expect(starting).rejects.toMatchObject({ code: 'ENGINE_SHUTTING_DOWN' });
    await closing;
    expect(memory.appended(session.id)).toHaveLength(1);
  });

  it('leaves a session that can be opened again, with the same runs [SES-5]', async () => {
    const { create, engine, listener } = engineHarness({ turns: [turnParts('Hi.'), turnParts('Again.')] });
    const first = await create();
    const end = await runToEnd(first);
    await first.close();
    const second = await engine.openSession(first.id, listener);
    const again = await second.startRun(runInit());
    expect(again.existing).toBe(true);
    expect(await again.done).toEqual(end);
    expect((await runToEnd(second, { clientRunId: 'run-2' })).finalText).toBe('Again.');
  });

  it('shows nobody else a failing listener', async () => {
    const { engine } = engineHarness({ turns: [turnParts('Hi.')] });
    const session = await engine.createSession({
      cwd: '/project',
      agent: 'default',
      listener: {
        event: () => {
          throw new Error('a bug of the listener');
        },
      },
    });
    expect((await runToEnd(session)).status).toBe('completed');
    await flush();
  });
});
