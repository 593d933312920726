import { describe, expect, it } from '@jest/globals';
import { defineTool, toolError, type ToolCompletion } from '@agentd/contract';
import { deferred, flush } from '@agentd/contract/testing';
import { z } from 'zod';
import {
  callOf,
  fakeTool,
  said,
  scriptedApprover,
  turnFixture,
  type RecordedLog,
} from './testing/turn-fixture.ts';

const echo = defineTool({
  name: 'echo',
  description: 'Says a text.',
  schema: z.strictObject({ text: z.string(), times: z.int().default(1) }),
  action: 'read',
  concurrency: 'parallel',
  prepare: async ({ text, times }) => ({
    permission: { action: 'read', label: text },
    operation: { text, times },
    execute: async () => said(text.repeat(times)),
  }),
});

describe('one turn', () => {
  it('runs a call and reports what its terminal event says [SCH-7] [OUT-11] [ERR-1]', async () => {
    const { run, log, store } = turnFixture([echo]);
    const { reports, denials } = await run([callOf('echo', { text: 'hi' })]);
    expect(denials).toBe(0);
    expect(reports).toMatchObject([
      {
        outcome: 'completed',
        text: 'hi',
        display: '',
        metadata: {},
        attachments: [],
        error: null,
        session_id: 'session',
        run_id: 'run',
        retained_output: { incomplete: false, streams: [{ name: null, byte_length: 2 }] },
      },
    ]);
    const [terminal] = log.of('tool_call_terminated');
    const { session_id: _session, run_id: _run, tool_call_id, outcome, error, ...result } = reports[0]!;
    expect(terminal).toEqual({ type: 'tool_call_terminated', tool_call_id, outcome, error, result });
    expect([...store.blobs.values()]).toEqual(['hi']);
  });

  it('records a start with the declaration, executes, and syncs around both [SCH-11] [OUT-11]', async () => {
    const { run, log } = turnFixture([
      fakeTool({
        output: { kind: 'named', streams: ['a'] },
        execute: async () => ({ output: { kind: 'streamed' } }),
      }),
    ]);
    await run([callOf('tool', { x: 1 })]);
    expect(log.journal).toEqual(['tool_call_started', 'sync', 'tool_call_terminated', 'sync']);
    expect(log.of('tool_call_started')).toEqual([
      {
        type: 'tool_call_started',
        tool_call_id: '00000000-0000-4000-8000-000000000001',
        provider_call_id: 'call_tool',
        tool: 'tool',
        args: { x: 1 },
        action: 'read',
        label: '{"x":1}',
        output: { kind: 'named', streams: ['a'] },
      },
    ]);
    expect(log.isSynced()).toBe(true);
  });

  it('answers an empty turn', async () => {
    const { run } = turnFixture([]);
    expect(await run([])).toEqual({ reports: [], denials: 0 });
  });

  it.each([
    ['an unknown field', { text: 'a', colour: 1 }, 'unknown field "colour"'],
    ['a missing field', {}, '"text" is required: expected string'],
    ['a number as text', { text: 'a', times: '5' }, '"times": expected number, got string "5"'],
    ['an array', [], 'expected an object, got array'],
    ['null', null, 'expected an object, got null'],
  ])('rejects %s and goes on with the siblings [ARG-2] [ARG-3] [SCH-8]', async (_what, input, problem) => {
    const { run, log } = turnFixture([echo]);
    const { reports } = await run([callOf('echo', input), callOf('echo', { text: 'ok' })]);
    expect(reports[0]).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' }, text: '' });
    expect(reports[0]!.error!.message).toContain(problem);
    expect(reports[1]).toMatchObject({ outcome: 'completed', text: 'ok' });
    expect(log.of('tool_call_started')).toMatchObject([
      { action: 'read', label: null },
      { action: 'read', label: 'ok' },
    ]);
    expect(log.of('tool_call_terminated')).toHaveLength(2);
  });

  it.each([
    [
      'cut off, reason tool-calls',
      '{"path":"a","content":"abc',
      false,
      'stop in mid-JSON after 26 characters',
    ],
    [
      'cut off, reason length',
      '{"path":"a","content":"abc',
      true,
      'were cut off by the output limit after 26',
    ],
    ['a trailing comma', '{"path":"a",}', false, 'are not valid JSON'],
    ['two objects', '{"a":1}{"b":2}', false, 'are not valid JSON'],
    ['nothing', '', false, 'stop in mid-JSON after 0 characters'],
  ])(
    'does not run arguments that are no JSON: %s [ARG-3] [field I13]',
    async (...[_what, raw, truncated, message]) => {
      let ran = false;
      const { run } = turnFixture([
        fakeTool({ onPrepare: () => void (ran = true) }),
        fakeTool({ name: 'sibling' }),
      ]);
      const { reports } = await run([callOf('tool', {}, raw), callOf('sibling')], { truncated });
      expect(ran).toBe(false);
      expect(reports[0]).toMatchObject({ outcome: 'failed', error: { code: 'invalid_arguments' } });
      expect(reports[0]!.error!.message).toContain(message);
      expect(reports[0]!.error!.message).toContain('cut off by the output limit');
      expect(reports[0]!.error!.message).toContain('smaller pieces');
      expect(reports[1]!.outcome).toBe('completed');
    },
  );

  it('names the published tools where one is not published [ARG-5]', async () => {
    const { run, log } = turnFixture([echo, fakeTool({ name: 'other' })]);
    const { reports } = await run([callOf('rm', { a: 1 }), callOf('echo', { text: 'ok' })]);
    expect(reports[0]).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'not_published',
        message: 'no tool "rm" is published to this run; published are: echo, other',
      },
    });
    expect(reports[1]!.outcome).toBe('completed');
    expect(log.of('tool_call_started')[0]).toMatchObject({
      tool: 'rm',
      action: null,
      label: null,
      output: null,
    });
  });

  it('says so where nothing is published [ARG-5]', async () => {
    const { run } = turnFixture([]);
    expect((await run([callOf('toString')])).reports[0]!.error!.message).toContain('none is');
  });

  it('keeps two calls with one provider id apart [SCH-9] [SCH-7] [field I4]', async () => {
    const { run, log } = turnFixture([echo]);
    const calls = [callOf('echo', { text: 'one' }), callOf('echo', { text: 'two' })];
    const { reports } = await run(calls);
    expect(reports.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(new Set(reports.map(({ tool_call_id }) => tool_call_id)).size).toBe(2);
    const textOf = new Map(
      log.of('tool_call_terminated').map((event) => [event.tool_call_id, event.result?.text]),
    );
    expect(log.of('tool_call_started').map((event) => textOf.get(event.tool_call_id))).toEqual([
      'one',
      'two',
    ]);
  });

  it('hands every call of a turn the same turn, and the next turn another [SCH-5]', async () => {
    const turns: object[] = [];
    const { run } = turnFixture([fakeTool({ onPrepare: (_args, { turn }) => void turns.push(turn) })]);
    await run([callOf('tool'), callOf('tool')]);
    await run([callOf('tool')]);
    expect(turns[0]).toBe(turns[1]);
    expect(turns[2]).not.toBe(turns[0]);
  });

  it('prepares every call before any is executed, in call order [SCH-5] [SCH-11]', async () => {
    const order: string[] = [];
    const tool = (name: string) =>
      fakeTool({
        name,
        onPrepare: async () => {
          await flush();
          order.push(`prepare ${name}`);
        },
        execute: async () => {
          order.push(`execute ${name}`);
          return said('');
        },
      });
    const { run } = turnFixture([tool('a'), tool('b')]);
    await run([callOf('b'), callOf('a')]);
    expect(order).toEqual(['prepare b', 'prepare a', 'execute b', 'execute a']);
  });

  it('keeps a tool from changing the arguments in the history', async () => {
    const call = callOf('tool', { list: [1] });
    const { run } = turnFixture([
      fakeTool({ onPrepare: (args) => void (args as { list: number[] }).list.push(2) }),
    ]);
    await run([call]);
    expect(call.input).toEqual({ list: [1] });
  });

  it('writes terminal events in the order of completion and reports in call order [SCH-7]', async () => {
    const [slow, fast] = [deferred<ToolCompletion>(), deferred<ToolCompletion>()];
    const { run, log } = turnFixture([
      fakeTool({ name: 'slow', execute: () => slow.promise }),
      fakeTool({ name: 'fast', execute: () => fast.promise }),
    ]);
    const outcome = run([callOf('slow'), callOf('fast')]);
    await flush();
    fast.resolve(said('fast'));
    await flush();
    slow.resolve(said('slow'));
    expect((await outcome).reports.map(({ text }) => text)).toEqual(['slow', 'fast']);
    expect(log.of('tool_call_terminated').map(({ result }) => result?.text)).toEqual(['fast', 'slow']);
  });

  it('lets the publication guard go only once the terminal event is on disk [SCH-11]', async () => {
    const gate = deferred();
    let syncs = 0;
    const beforeSync = async (): Promise<void> => void (++syncs > 1 && (await gate.promise));
    const { run, log, store } = turnFixture([echo], { beforeSync });
    const outcome = run([callOf('echo', { text: 'a' })]);
    await flush();
    expect(log.of('tool_call_terminated')).toHaveLength(1);
    expect(store.unreleased()).toBe(1);
    gate.resolve();
    await outcome;
    expect(store.unreleased()).toBe(0);
  });

  it('frees what preparation holds once for each call, after its terminal event [SCH-11]', async () => {
    const freed: string[] = [];
    let log: RecordedLog;
    const tool = (name: string, init: Parameters<typeof fakeTool>[0]) =>
      fakeTool({
        name,
        dispose: async () => void freed.push(`${name} ${log.of('tool_call_terminated').length > 0}`),
        ...init,
      });
    const fixture = turnFixture([
      tool('runs', {}),
      tool('denied', { action: 'webfetch' }),
      tool('stale', {
        revalidate: async () => {
          throw toolError('stale', 'it changed');
        },
      }),
    ]);
    log = fixture.log;
    const { reports } = await fixture.run([callOf('runs'), callOf('denied'), callOf('stale')]);
    expect(reports.map(({ error }) => error?.code)).toEqual([undefined, 'permission_denied', 'stale']);
    expect(freed.toSorted()).toEqual(['denied true', 'runs true', 'stale true']);
  });

  it('rejects when the log fails, and runs nothing then [SCH-11]', async () => {
    let [ran, freed] = [0, 0];
    const tool = fakeTool({
      execute: async () => {
        ran++;
        return said('');
      },
      dispose: async () => void freed++,
    });
    const beforeSync = () => Promise.reject(new Error('disk gone'));
    const { run } = turnFixture([tool], { beforeSync });
    await expect(run([callOf('tool'), callOf('tool')])).rejects.toThrow('disk gone');
    expect([ran, freed]).toEqual([0, 2]);
  });

  it('lets what runs end when the log fails meanwhile, and starts no exclusive call [SCH-9]', async () => {
    const slow = deferred<ToolCompletion>();
    const ran: string[] = [];
    let syncs = 0;
    const beforeSync = async (): Promise<void> => {
      if (++syncs > 1) throw new Error('disk gone');
    };
    const tool = (name: string, init: Parameters<typeof fakeTool>[0] = {}) =>
      fakeTool({
        name,
        execute: async () => {
          if (name === 'slow') await slow.promise;
          ran.push(name);
          return said('');
        },
        ...init,
      });
    const { run, store } = turnFixture(
      [tool('slow'), tool('fast'), tool('alone', { concurrency: 'exclusive' })],
      {
        beforeSync,
      },
    );
    const outcome = run([callOf('slow'), callOf('fast'), callOf('alone')]);
    outcome.catch(() => undefined);
    await flush();
    slow.resolve(said(''));
    await expect(outcome).rejects.toThrow('disk gone');
    expect(ran).toEqual(['fast', 'slow']);
    expect(store.unreleased()).toBe(0);
  });

  it('counts denials and not other failures [PERM-8]', async () => {
    const { approver } = scriptedApprover([]);
    const { run } = turnFixture(
      [
        fakeTool({ name: 'denied', action: 'webfetch' }),
        fakeTool({
          name: 'eacces',
          execute: async () => {
            throw toolError('permission_denied', 'the system says no');
          },
        }),
      ],
      { approver },
    );
    const { denials } = await run([callOf('denied'), callOf('eacces')]);
    expect(denials).toBe(1);
  });
});
