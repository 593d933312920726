import { describe, expect, it } from '@jest/globals';
import type { SessionId } from '@agentd/contract';
import { flush, turnParts } from '@agentd/contract/testing';
import type { EngineHost } from '../ports.ts';
import {
  engineHarness,
  instantTool,
  runInit,
  runToEnd,
  until,
  type HarnessInit,
} from '../testing/engine-harness.ts';
import { plainInbox } from '../testing/plain-inbox.ts';

const HOUR_MS = 3_600_000;

interface TreeHarness extends HarnessInit {
  readonly treeOpened?: (rootId: SessionId) => Promise<void>;
  readonly awaitsPrompt?: (sessionId: SessionId) => boolean;
  readonly cannotWake?: (sessionId: SessionId, error: unknown) => void;
}

function setup({
  treeOpened = async () => undefined,
  awaitsPrompt = () => false,
  cannotWake = () => undefined,
  ...init
}: TreeHarness = {}) {
  const captured: { host?: EngineHost } = {};
  const extend = (host: EngineHost) => {
    captured.host = host;
    return { tools: [], keeper: { treeOpened, settled: async () => undefined, awaitsPrompt } };
  };
  const ports = { inbox: plainInbox, extend, cannotWake };
  const harness = engineHarness({ ...init, ports: { ...ports, ...init.ports } });
  const host = captured.host!;
  const child = (parentId: SessionId, number: number) =>
    host.createChild({
      sessionId: `child-${number}`,
      handle: `default_0000000${number}`,
      agent: 'default',
      title: `Task ${number}`,
      origin: {
        rootId: parentId,
        parentId,
        parentRunId: 'r',
        toolCallId: 'c',
        invocationId: `i${number}`,
        depth: 1,
      },
    });
  return { ...harness, host, child };
}

const delegated = (clientRunId: string) => ({ clientRunId, input: 'do it' });

describe('a tree of sessions', () => {
  it('P3 pages idle subagents out after an hour, the root never, and has them back when asked', async () => {
    const { child, clock, create, host, memory } = setup({
      turns: [turnParts('hi'), turnParts('done'), turnParts('more')],
    });
    const root = await create();
    await runToEnd(root);
    const { sessionId } = await child(root.id, 1);
    await (
      await host.startRun(sessionId, delegated('a'))
    ).done;
    clock.advance(HOUR_MS - 1);
    expect(memory.isOpen(sessionId)).toBe(true);
    clock.advance(1);
    await until(() => !memory.isOpen(sessionId));
    expect(memory.isOpen(root.id)).toBe(true);
    const before = memory.appended(sessionId).length;
    expect(await host.find(sessionId)).toMatchObject({
      status: 'completed',
      depth: 1,
      description: 'Task 1',
    });
    expect(await host.run(sessionId, 'a')).toMatchObject({ status: 'completed', text: 'done' });
    expect(await host.conversation(sessionId, 100)).toBe('user: do it\n\nassistant: done');
    expect(memory.appended(sessionId)).toHaveLength(before);
    expect(await (await host.startRun(sessionId, delegated('b'))).done).toMatchObject({ text: 'more' });
    expect(clock.pending()).toBe(1);
    await root.close();
    expect(clock.pending()).toBe(0);
  });

  it('P2 keeps what is held, busy or has messages that wait', async () => {
    const { child, clock, create, host, memory } = setup({ turns: [turnParts('hi')] });
    const root = await create();
    const { sessionId } = await child(root.id, 1);
    await host.use(sessionId, async ({ inbox }) => {
      clock.advance(2 * HOUR_MS);
      expect(memory.isOpen(sessionId)).toBe(true);
      inbox.accept({ owner: 'agent', from: 'a', mode: 'steer', idempotencyKey: 'k', body: 'wait' });
    });
    clock.advance(2 * HOUR_MS);
    expect(memory.isOpen(sessionId)).toBe(true);
  });

  it('P3 lets those go first that have been idle longest once there are too many', async () => {
    const { child, clock, create, memory, engine } = setup();
    const root = await create();
    for (let number = 1; number <= 22; number += 1) {
      await child(root.id, number);
      clock.advance(1);
    }
    const open = (): readonly string[] =>
      Array.from({ length: 22 }, (_, index) => `child-${index + 1}`).filter((id) => memory.isOpen(id));
    await until(() => open().length === 20);
    expect(open()).not.toContain('child-1');
    expect(open()).not.toContain('child-2');
    await engine.stop();
    expect(open()).toEqual([]);
    expect(memory.isOpen(root.id)).toBe(false);
  });

  it('R2 says why a session with messages cannot go on, once, and keeps them', async () => {
    const told: unknown[] = [];
    const { create, host } = setup({ cannotWake: (...args) => void told.push(args) });
    const root = await create();
    await host.use(root.id, async ({ inbox }) => {
      inbox.accept({ owner: 'agent', from: 'a', mode: 'steer', idempotencyKey: 'k', body: 'wait' });
    });
    host.wake(root.id);
    await root.quiet();
    expect(told).toEqual([[root.id, expect.objectContaining({ code: 'ENGINE_MODEL_UNKNOWN' })]]);
    expect(await host.use(root.id, async ({ inbox }) => inbox.waiting)).toBe(1);
    expect(root.state.lastRun).toBeNull();
  });

  it('F2 recovers every session at the opening, and nothing goes on before it is told to [SES-6]', async () => {
    const endless = async function* (_request: unknown, signal: AbortSignal) {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      yield* [];
    };
    const first = setup({ turns: [endless, endless] });
    const root = await first.create();
    await root.startRun(runInit());
    const { sessionId } = await first.child(root.id, 1);
    await first.host.startRun(sessionId, delegated('a'));
    const opened: string[] = [];
    const treeOpened = async (rootId: SessionId): Promise<void> => void opened.push(rootId);
    const sessions = first.memory.crashed();
    const turns = [turnParts('woken')];
    const { engine, host, listener, model, shown } = setup({ sessions, treeOpened, turns });
    const again = await engine.openSession(root.id, listener);
    expect(shown.map(({ session_id: id, payload }) => [id, payload.type])).toEqual([
      [root.id, 'run_interrupted'],
      [sessionId, 'run_interrupted'],
    ]);
    expect(await host.run(sessionId)).toMatchObject({ status: 'interrupted' });
    expect(opened).toEqual([]);
    await host.use(sessionId, async ({ inbox }) => {
      inbox.accept({ owner: 'agent', from: 'a', mode: 'steer', idempotencyKey: 'k', body: 'wait' });
    });
    host.wake(sessionId);
    await again.quiet();
    expect(model.requests).toEqual([]);
    await again.resume();
    await again.resume();
    expect(opened).toEqual([root.id]);
    await again.quiet();
    expect(model.requests).toHaveLength(1);
  });

  it('begins nobody with a message while its first prompt is on its way, and wakes who has run before [MSG-3] [DLG-9]', async () => {
    const turns = [turnParts('hi'), turnParts('did it'), turnParts('heard it')];
    const { child, create, host, shown } = setup({ turns, awaitsPrompt: () => true });
    const root = await create();
    await runToEnd(root);
    const { sessionId } = await child(root.id, 1);
    const write = (body: string) =>
      host.use(sessionId, async ({ inbox }) => {
        inbox.accept({ owner: 'agent', from: 'a', mode: 'steer', idempotencyKey: body, body });
      });
    const triggers = () =>
      shown.flatMap(({ session_id: id, payload }) =>
        id === sessionId && payload.type === 'run_started' ? [payload.trigger] : [],
      );
    await write('first');
    host.wake(sessionId);
    await root.quiet();
    expect(triggers()).toEqual([]);
    await (
      await host.startRun(sessionId, delegated('a'))
    ).done;
    expect(await host.use(sessionId, async ({ inbox }) => inbox.waiting)).toBe(0);
    await write('second');
    host.wake(sessionId);
    await root.quiet();
    expect(triggers()).toEqual(['delegation', 'message']);
  });

  it.each([
    ['wakes', 'completed', true],
    ['wakes', 'cancelled', true],
    ['wakes nobody', 'cancelled', false],
  ])(
    '%s for a message that comes while the end of a run that was %s is not on disk yet [MSG-3] [MSG-10]',
    async (_, end, isWoken) => {
      const { create, host, memory, shown } = setup({ turns: [turnParts('hi'), turnParts('heard it')] });
      const root = await create();
      const started = await root.startRun(runInit());
      const { release } = memory.holdSyncs();
      if (end === 'cancelled') void root.cancel(started.runId, 'user');
      await until(() => root.state.activeRun === null);
      await host.use(root.id, async ({ inbox }) => {
        inbox.accept({ owner: 'agent', from: 'a', mode: 'steer', idempotencyKey: 'k', body: 'late' });
      });
      await flush();
      if (isWoken) host.wake(root.id);
      release();
      await root.quiet();
      const types = shown.map(({ payload }) => payload.type);
      expect(types.filter((type) => type === 'run_started')).toHaveLength(isWoken ? 2 : 1);
      expect(await host.use(root.id, async ({ inbox }) => inbox.waiting)).toBe(isWoken ? 0 : 1);
    },
  );

  it('keeps what the user allows for good for the whole tree, paged out or not [PERM-7]', async () => {
    const asks: string[] = [];
    const look = (id: string) => turnParts('', [{ id, tool: 'look', args: { label: 'x' } }]);
    const { child, clock, create, host, memory, engine } = setup({
      turns: [turnParts('hi'), look('c1'), turnParts('done'), look('c2'), turnParts('done')],
      tools: [instantTool()],
      permissions: { read: 'ask' },
      approver: {
        ask: async ({ callId }) => {
          asks.push(callId);
          return { decision: 'always', source: 'user', feedback: null };
        },
      },
    });
    const root = await create();
    await runToEnd(root);
    const { sessionId } = await child(root.id, 1);
    await (
      await host.startRun(sessionId, delegated('a'))
    ).done;
    clock.advance(HOUR_MS);
    await until(() => !memory.isOpen(sessionId));
    await root.close();
    const again = await engine.openSession(root.id);
    expect(await runToEnd(again, { clientRunId: 'run-2' })).toMatchObject({ toolCalls: 1, denials: 0 });
    expect(asks).toHaveLength(1);
  });

  it('R1 refuses a run without a model before anything is written, and tells who asked [DLG-11]', async () => {
    const { child, create, host, memory } = setup();
    const root = await create();
    const { sessionId } = await child(root.id, 1);
    await expect(host.startRun(sessionId, delegated('a'))).rejects.toMatchObject({
      code: 'ENGINE_MODEL_UNKNOWN',
    });
    expect(memory.appended(sessionId)).toHaveLength(1);
  });

  it('F4 closes with the last session that is open, whichever that is [SES-4]', async () => {
    const { child, create, engine, memory } = setup({ turns: [turnParts('hi'), turnParts('done')] });
    const root = await create();
    const { sessionId } = await child(root.id, 1);
    const opened = await engine.openSession(sessionId);
    await expect(engine.openSession(sessionId)).rejects.toMatchObject({ code: 'ENGINE_SESSION_LOCKED' });
    await root.close();
    await root.close();
    expect(await runToEnd(opened)).toMatchObject({ status: 'completed' });
    await opened.close();
    expect([memory.isOpen(root.id), memory.isOpen(sessionId)]).toEqual([false, false]);
    await expect(opened.startRun(runInit({ clientRunId: 'late' }))).rejects.toMatchObject({
      code: 'ENGINE_SHUTTING_DOWN',
    });
  });
});
