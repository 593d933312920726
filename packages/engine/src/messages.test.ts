import { describe, expect, it } from '@jest/globals';
import { modelError, type MessageMode, type SessionId } from '@agentd/contract';
import { deferred, turnParts } from '@agentd/contract/testing';
import type { EngineHost } from './ports.ts';
import {
  engineHarness,
  heldTool,
  runInit,
  runToEnd,
  until,
  type HarnessInit,
} from './testing/engine-harness.ts';
import { plainInbox } from './testing/plain-inbox.ts';

function setup(init: HarnessInit = {}) {
  const captured: { host?: EngineHost } = {};
  const extend = (host: EngineHost) => {
    captured.host = host;
    return { tools: [] };
  };
  const runDefaults = () => ({ models: ['test/a'], maxTurns: 20, timeoutMs: 600_000 });
  const harness = engineHarness({
    ...init,
    ports: { inbox: plainInbox, extend, runDefaults, ...init.ports },
  });
  const accept = (id: SessionId, body: string, mode: MessageMode = 'steer') =>
    captured.host!.use(id, async ({ inbox, log }) => {
      inbox.accept({ owner: 'agent', from: 'a_00000001', mode, idempotencyKey: body, body });
      await log.sync();
    });
  const asked = () =>
    harness.model.requests.map(({ messages }) =>
      messages.map(({ role, content }) =>
        role === 'user' ? content.map((part) => (part.type === 'text' ? part.text : '')).join('|') : role,
      ),
    );
  return { ...harness, host: () => captured.host!, accept, asked };
}

/** Packages write events beside the engine's. */
const typeOf = ({ type }: { readonly type: string }): string => type;

const ends = (types: readonly string[]): readonly string[] =>
  types.filter((type) => /^(run_(?!started)|message_)/.test(type));

describe('messages of a session', () => {
  it('enter at the start of a run, after what the user says, in order of acceptance [MSG-3] [MSG-10]', async () => {
    const { accept, asked, create } = setup({ turns: [turnParts('ok')] });
    const session = await create();
    await accept(session.id, 'one', 'queue');
    await accept(session.id, 'two');
    await runToEnd(session, { input: 'hello' });
    expect(asked()).toEqual([['hello|one|two']]);
    expect(session.state.pendingTexts).toEqual([]);
  });

  it('enter between turns, after the results and the user’s steering, never in between [MSG-3] [field G4]', async () => {
    const held = heldTool('look', { hold: true });
    const { accept, asked, create } = setup({
      tools: [held.tool],
      turns: [
        turnParts('', [{ id: 'c1', tool: 'look', args: { label: 'x' } }]),
        turnParts('ok'),
        turnParts('end'),
      ],
    });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await until(() => held.started.length === 1);
    await accept(session.id, 'a steer');
    await accept(session.id, 'a queue', 'queue');
    await session.steer(runId, 'by hand');
    held.release('x');
    await done;
    expect(asked()[1]).toEqual(['hello', 'assistant', 'tool', 'by hand|a steer']);
    expect(asked()[2]).toEqual(['hello', 'assistant', 'tool', 'by hand|a steer', 'assistant', 'a queue']);
  });

  it('keep a run going that has nothing else to do; one that comes after its end waits for the next [MSG-11]', async () => {
    const reply = deferred();
    const { accept, asked, create, host } = setup({
      turns: [
        async function* () {
          await reply.promise;
          yield* turnParts('first');
        },
        turnParts('second'),
        turnParts('third'),
      ],
    });
    const session = await create();
    const { done } = await session.startRun(runInit());
    await accept(session.id, 'meanwhile', 'queue');
    reply.resolve();
    expect(await done).toMatchObject({ finalText: 'second', turns: 2 });
    await accept(session.id, 'later');
    host().wake(session.id);
    host().wake(session.id);
    await session.quiet();
    expect(asked().at(-1)?.at(-1)).toBe('later');
    expect(session.state.lastRun).toMatchObject({ finalText: 'third', turns: 1 });
  });

  it('are given back by a run that fails, and start no further run by themselves [MSG-10]', async () => {
    const { accept, asked, create, host, shown } = setup({
      turns: [modelError('MODEL_AUTH', 'no key'), turnParts('ok')],
    });
    const session = await create();
    await accept(session.id, 'one');
    host().wake(session.id);
    await session.quiet();
    expect(ends(shown.map(({ payload }) => payload.type))).toEqual([
      'message_accepted',
      'message_claimed',
      'message_released',
      'run_failed',
    ]);
    host().wake(session.id);
    await session.quiet();
    expect(asked()).toEqual([['one'], ['one']]);
    expect(session.state.lastRun).toMatchObject({ status: 'completed' });
  });

  it('start a run after one that failed without ever having seen them [MSG-3]', async () => {
    const reply = deferred();
    const { accept, asked, create } = setup({
      turns: [
        async function* () {
          await reply.promise;
          yield* [];
          throw modelError('MODEL_AUTH', 'no key');
        },
        turnParts('ok'),
      ],
    });
    const session = await create();
    const { done } = await session.startRun(runInit());
    await accept(session.id, 'meanwhile');
    reply.resolve();
    expect(await done).toMatchObject({ status: 'failed' });
    await session.quiet();
    expect(asked()).toEqual([['hello'], ['hello|meanwhile']]);
  });

  it('start none after one that was cancelled: who cancels wants quiet [DLG-10]', async () => {
    const { accept, create, model } = setup({
      turns: [
        async function* (_request, signal) {
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          yield* [];
        },
      ],
    });
    const session = await create();
    const { runId, done } = await session.startRun(runInit());
    await accept(session.id, 'meanwhile');
    await session.cancel(runId, 'user');
    await done;
    await session.quiet();
    expect(model.requests).toHaveLength(1);
    expect(session.state.activeRun).toBeNull();
  });

  it('wait for a run with turns where the last turn is used up [CLI-4]', async () => {
    const reply = deferred();
    const { accept, asked, create } = setup({
      turns: [
        async function* () {
          await reply.promise;
          yield* turnParts('first');
        },
        turnParts('second'),
      ],
    });
    const session = await create();
    const { done } = await session.startRun(runInit({ maxTurns: 1 }));
    await accept(session.id, 'meanwhile', 'queue');
    reply.resolve();
    expect(await done).toMatchObject({ status: 'completed', finalText: 'first' });
    await session.quiet();
    expect(asked().at(-1)?.at(-1)).toBe('meanwhile');
  });

  it('that a crash left claimed are given back at the opening, and taken again [SES-6] [MSG-10]', async () => {
    const { accept, create, memory } = setup({
      turns: [
        async function* (_request, signal) {
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          yield* [];
        },
      ],
    });
    const session = await create();
    await accept(session.id, 'one');
    await session.startRun(runInit());
    await until(() =>
      memory.appended(session.id).some(({ payload }) => typeOf(payload) === 'message_claimed'),
    );
    const after = setup({ sessions: memory.crashed(), turns: [turnParts('ok')] });
    const again = await after.engine.openSession(session.id);
    expect(again.state.pendingTexts).toEqual(['hello']);
    await again.resume();
    await again.quiet();
    expect(after.asked()).toEqual([['hello|one']]);
  });
});
