import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { toolError, type ToolCompletion, type ToolProgress } from '@agentd/contract';
import { deferred, flush } from '@agentd/contract/testing';
import { callOf, fakeTool, said, turnFixture, type ToolInit } from './testing/turn-fixture.ts';

const hostile = (): object =>
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
      getOwnPropertyDescriptor: () => {
        throw new Error('no');
      },
      has: () => {
        throw new Error('no');
      },
    },
  );

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

const sibling = fakeTool({ name: 'sibling' });
const never = (): Promise<never> => new Promise(() => undefined);

/** Runs `tool` beside a sound sibling, and expects nothing of it but that the two have one end each. */
async function besideSibling(tool: ToolInit) {
  const fixture = turnFixture([fakeTool(tool), sibling]);
  const { reports } = await fixture.run([callOf('tool'), callOf('sibling')]);
  expect(reports[1]).toMatchObject({ outcome: 'completed', text: 'ran sibling' });
  expect(fixture.log.of('tool_call_terminated')).toHaveLength(2);
  expect([fixture.store.unreleased(), fixture.clock.pending()]).toEqual([0, 0]);
  return reports[0]!;
}

describe('a tool that throws', () => {
  it.each<[string, unknown, string, string]>([
    ['an error', new Error('boom'), 'execution_failed', 'tool failed: boom'],
    ['a string', 'boom', 'execution_failed', 'tool failed: boom'],
    ['null', null, 'execution_failed', 'tool failed: null'],
    ['undefined', undefined, 'execution_failed', 'tool failed: undefined'],
    ['a symbol', Symbol('s'), 'execution_failed', 'tool failed: Symbol(s)'],
    [
      'what has no text',
      Object.create(null),
      'execution_failed',
      'tool failed: it threw something that has no text',
    ],
    ['a hostile proxy', hostile(), 'execution_failed', 'tool failed: it threw something that has no text'],
    [
      'a tool error',
      toolError('not_found', 'no such file; look with read'),
      'not_found',
      'no such file; look with read',
    ],
    ['an unknown code', toolError('made_up' as 'stale', 'x'), 'execution_failed', 'tool failed: x'],
    ['a code of the prototype', toolError('toString' as 'stale', 'x'), 'execution_failed', 'tool failed: x'],
    ['a code of messaging', toolError('send_message:self_send', 'x'), 'send_message:self_send', 'x'],
  ])('%s ends its own call [SCH-8] [SCH-9] [ERR-1]', async (...[_what, thrown, code, message]) => {
    const fail = (): never => {
      throw thrown;
    };
    for (const tool of [
      { execute: async () => fail() },
      { execute: fail },
      { execute: () => Promise.reject(thrown) },
      { revalidate: async () => fail() },
      { onPrepare: fail },
    ]) {
      const report = await besideSibling(tool);
      expect(report).toMatchObject({ outcome: 'failed', error: { code, message } });
    }
  });

  it('a huge message is cut on a code point [ERR-1] [OUT-14]', async () => {
    const report = await besideSibling({
      execute: () => Promise.reject(toolError('not_found', `x${'é'.repeat(100_000)}\ud800`)),
    });
    const message = report.error!.message;
    expect(Buffer.byteLength(message)).toBe(16 * 1024 - 1);
    expect(message.isWellFormed()).toBe(true);
  });

  it('while it frees its preparation, or never ends that, holds nobody up [SCH-9]', async () => {
    await besideSibling({ dispose: () => Promise.reject(new Error('x')) });
    const fixture = turnFixture([fakeTool({ dispose: never })]);
    const outcome = fixture.run([callOf('tool')]);
    await flush();
    fixture.clock.advance(3000);
    expect((await outcome).reports[0]!.outcome).toBe('completed');
  });
});

describe('a tool that answers garbage', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'done'],
    ['no output', {}],
    ['an unknown kind', { output: { kind: 'double', text: 'a' } }],
    ['a number as text', { output: { kind: 'single', text: 5 } }],
    ['a number as display', { ...said('a'), display: 5 }],
    ['an error without a message', { ...said('a'), error: { code: 'timeout' } }],
    ['metadata that is a list', { ...said('a'), metadata: [1] }],
    ['metadata that is null', { ...said('a'), metadata: null }],
    ['metadata with a bigint', { ...said('a'), metadata: { n: 1n } }],
    ['metadata 3,000 levels deep', { ...said('a'), metadata: { deep: nested(3000) } }],
    ['metadata over 256 KiB', { ...said('a'), metadata: { big: 'x'.repeat(256 * 1024) } }],
    ['a hostile proxy', hostile()],
  ])('%s ends its own call, and nothing of it is kept [SCH-9]', async (_what, garbage) => {
    const report = await besideSibling({ execute: async () => garbage as ToolCompletion });
    expect(report).toMatchObject({ outcome: 'failed', text: '', error: { code: 'execution_failed' } });
    expect(report.error!.message).toMatch(/^tool failed: /);
  });

  it('cyclic metadata ends its own call [SCH-9]', async () => {
    const metadata: Record<string, unknown> = {};
    metadata['self'] = metadata;
    const report = await besideSibling({
      execute: async () => ({ ...said('a'), metadata }) as ToolCompletion,
    });
    expect(report).toMatchObject({ outcome: 'failed', error: { code: 'execution_failed' } });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no permission', { execute: never, operation: {} }],
    ['an unknown action', { permission: { action: 'fly', label: '' }, execute: never, operation: {} }],
    [
      'another action than its own',
      { permission: { action: 'bash', label: '' }, execute: never, operation: {} },
    ],
    [
      'a label without measure',
      { permission: { action: 'read', label: 'x'.repeat(2 ** 21) }, execute: never, operation: {} },
    ],
    ['nothing to execute', { permission: { action: 'read', label: '' }, operation: {} }],
    [
      'an operation that is no JSON',
      { permission: { action: 'read', label: '' }, execute: never, operation: 1n },
    ],
    ['no operation', { permission: { action: 'read', label: '' }, execute: never }],
    ['a hostile proxy', hostile()],
  ])('as its preparation: %s ends its own call [SCH-9]', async (_what, garbage) => {
    const tool = fakeTool({});
    const fixture = turnFixture([{ ...tool, prepare: async () => garbage as never }, sibling]);
    const { reports } = await fixture.run([callOf('tool'), callOf('sibling')]);
    expect(reports).toMatchObject([
      { outcome: 'failed', error: { code: 'execution_failed' } },
      { outcome: 'completed' },
    ]);
  });
});

describe('a tool that misuses its reports', () => {
  const reporting = (...reports: readonly unknown[]): ToolInit => ({
    execute: async ({ report }) => {
      for (const progress of reports) void report(progress as ToolProgress);
      return { output: { kind: 'streamed' } };
    },
  });

  it('ends as failed where it ignores that a chunk was refused for its stream [OUT-8] [SCH-9]', async () => {
    const report = await besideSibling(
      reporting({ chunks: [{ text: 'good' }] }, { chunks: [{ stream: 'none', text: 'bad' }] }),
    );
    expect(report).toMatchObject({
      outcome: 'failed',
      text: 'good',
      error: {
        code: 'execution_failed',
        message: 'tool failed: reported text for stream "none", but declares single output',
      },
      retained_output: { incomplete: true },
    });
  });

  it('keeps what it did not await [OUT-12]', async () => {
    const report = await besideSibling(reporting({ chunks: [{ text: 'a' }] }, { chunks: [{ text: 'b' }] }));
    expect(report).toMatchObject({
      outcome: 'completed',
      text: 'ab',
      retained_output: { incomplete: false },
    });
  });

  it('is refused once its call has ended [SCH-9]', async () => {
    let late: Promise<void> | undefined;
    let tick: (() => Promise<void>) | undefined;
    const fixture = turnFixture([
      fakeTool({
        execute: async ({ report }) => {
          tick = () => (late = report({ chunks: [{ text: 'late' }], message: 'late' }));
          return said('done');
        },
      }),
    ]);
    const { reports } = await fixture.run([callOf('tool')]);
    await expect(tick!()).rejects.toMatchObject({ code: 'execution_failed' });
    await expect(late).rejects.toBeDefined();
    expect(reports[0]!.text).toBe('done');
    expect([fixture.live, fixture.log.of('tool_call_progress')]).toEqual([[], []]);
  });
});

describe('cancellation', () => {
  it('gives a tool that never settles 3 s, and ignores what it does later [SCH-9] [SCH-10] [OUT-16]', async () => {
    const ended = deferred<ToolCompletion>();
    let lateReport: (() => Promise<void>) | undefined;
    const fixture = turnFixture([
      fakeTool({
        execute: async ({ report }) => {
          await report({ chunks: [{ text: 'so far' }] });
          lateReport = () => report({ chunks: [{ text: ' too late' }] });
          return ended.promise;
        },
      }),
    ]);
    const outcome = fixture.run([callOf('tool')]);
    await flush();
    fixture.cancel.abort();
    await flush();
    fixture.clock.advance(2999);
    await flush();
    expect(fixture.log.of('tool_call_terminated')).toEqual([]);
    fixture.clock.advance(1);
    const { reports } = await outcome;
    expect(reports).toMatchObject([
      {
        outcome: 'cancelled',
        text: 'so far',
        error: { code: 'cancelled', message: 'tool was cancelled and did not end within 3 s' },
        retained_output: { incomplete: true },
      },
    ]);
    await expect(lateReport!()).rejects.toMatchObject({ code: 'execution_failed' });
    ended.reject(new Error('nobody hears this'));
    await flush();
    expect(fixture.log.of('tool_call_terminated')).toHaveLength(1);
    expect(fixture.clock.pending()).toBe(0);
  });

  it('reaches what runs, and what waits is not started [SCH-10]', async () => {
    const started: string[] = [];
    const obedient = (name: string, init: ToolInit = {}) =>
      fakeTool({
        name,
        execute: (_context, signal) => {
          started.push(name);
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
        ...init,
      });
    const fixture = turnFixture([
      obedient('runs', { key: 'k' }),
      obedient('queued', { key: 'k' }),
      obedient('exclusive', { concurrency: 'exclusive' }),
    ]);
    const outcome = fixture.run(['runs', 'queued', 'exclusive'].map((name) => callOf(name)));
    await flush();
    fixture.cancel.abort();
    const { reports } = await outcome;
    expect(started).toEqual(['runs']);
    expect(reports.map(({ outcome, error }) => [outcome, error?.message])).toEqual([
      ['cancelled', 'the run was cancelled while runs ran'],
      ['cancelled', 'the run was cancelled before this call started'],
      ['cancelled', 'the run was cancelled before this call started'],
    ]);
    expect(fixture.log.of('tool_call_terminated')).toHaveLength(3);
    expect(fixture.log.isSynced()).toBe(true);
  });

  it('before the turn still gives each call a start and an end [SCH-10]', async () => {
    const fixture = turnFixture([sibling]);
    fixture.cancel.abort();
    const { reports } = await fixture.run([callOf('sibling'), callOf('unknown')]);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
    expect(fixture.log.of('tool_call_started')).toHaveLength(2);
    expect(fixture.log.of('tool_call_terminated')).toHaveLength(2);
  });

  it('ends a preparation that hangs within 3 s, and frees it should it come after all [SCH-9]', async () => {
    const prepared = deferred();
    let freed = 0;
    const fixture = turnFixture([
      fakeTool({ onPrepare: () => prepared.promise, dispose: async () => void freed++ }),
      sibling,
    ]);
    const outcome = fixture.run([callOf('tool'), callOf('sibling')]);
    await flush();
    fixture.cancel.abort();
    fixture.clock.advance(3000);
    expect((await outcome).reports.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
    prepared.resolve();
    await flush();
    expect(freed).toBe(1);
  });

  it('ends a revalidation that hangs within 3 s [SCH-9]', async () => {
    const fixture = turnFixture([fakeTool({ revalidate: never })]);
    const outcome = fixture.run([callOf('tool')]);
    await flush();
    fixture.cancel.abort();
    fixture.clock.advance(3000);
    expect((await outcome).reports[0]).toMatchObject({ outcome: 'cancelled', retained_output: null });
  });

  it('leaves a result that came all the same, and a tool that says it was cancelled [SCH-10]', async () => {
    const settle = deferred();
    const fixture = turnFixture([
      fakeTool({ name: 'done', execute: () => settle.promise.then(() => said('all')) }),
      fakeTool({
        name: 'told',
        execute: () =>
          settle.promise.then(() => ({
            ...said('part'),
            error: { code: 'cancelled', message: 'ended by the run' },
          })),
      }),
    ]);
    const outcome = fixture.run([callOf('done'), callOf('told')]);
    await flush();
    fixture.cancel.abort();
    settle.resolve();
    expect((await outcome).reports).toMatchObject([
      { outcome: 'completed', text: 'all', error: null, retained_output: { incomplete: false } },
      {
        outcome: 'cancelled',
        text: 'part',
        error: { code: 'cancelled', message: 'ended by the run' },
        retained_output: { incomplete: true },
      },
    ]);
  });
});

describe('a process of its own', () => {
  it('outlives every rejection that its tools leave unhandled [SCH-9]', async () => {
    const script = fileURLToPath(new URL('./testing/hostile-process.ts', import.meta.url));
    const args = ['--conditions=@agentd/source', '--unhandled-rejections=strict', script];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual(['failed', 'completed', 'cancelled', 'completed', 'cancelled']);
  });
});
