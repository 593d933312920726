import { describe, expect, it } from '@jest/globals';
import { turnParts } from '@agentd/contract/testing';
import { engineError } from './errors.ts';
import type { EngineHost, SessionStore } from './ports.ts';
import { engineHarness, runInit, runToEnd } from './testing/engine-harness.ts';
import { memorySessionStore } from './testing/memory-session-store.ts';
import { plainInbox } from './testing/plain-inbox.ts';

/** Sessions whose disk is full from a moment on: syncs fail, and so does closing their log. */
function fullDisk() {
  const memory = memorySessionStore(() => 0);
  let full = false;
  const sessions: SessionStore = {
    ...memory,
    create: async (sessionId, first) => {
      const owned = await memory.create(sessionId, first);
      const release = async (): Promise<void> => {
        await owned.release();
        if (full) throw engineError('ENGINE_LOG_FAILED', 'the disk is full');
      };
      return { ...owned, release };
    },
  };
  const fill = (): void => {
    full = true;
    memory.failSyncs();
  };
  return { fill, memory, sessions };
}

describe('a session whose log cannot be written', () => {
  it('begins nothing more, for nobody, and tells of each run that the log has failed [SES-2] [MSG-3]', async () => {
    const { fill, sessions } = fullDisk();
    const untold: unknown[] = [];
    const cannotWake = (_: string, error: unknown) => void untold.push(error);
    const captured: { host?: EngineHost } = {};
    const extend = (host: EngineHost) => {
      captured.host = host;
      return { tools: [] };
    };
    const ports = { inbox: plainInbox, cannotWake, extend };
    const { create } = engineHarness({ sessions, turns: [turnParts('hi'), turnParts('never')], ports });
    const session = await create();
    await runToEnd(session);
    expect(session.newestEnd).toMatchObject({ status: 'completed', finalText: 'hi' });
    fill();
    const failed = { status: 'failed', error: { code: 'ENGINE_LOG_FAILED' } };
    await expect(session.startRun(runInit({ clientRunId: 'second' }))).rejects.toMatchObject(failed.error);
    expect(session.newestEnd).toMatchObject(failed);
    const { runId } = session.state.lastRun!;
    await captured.host!.use(session.id, async ({ inbox }) => {
      inbox.accept({ owner: 'agent', from: 'a', mode: 'steer', idempotencyKey: 'k', body: 'hello' });
    });
    captured.host!.wake(session.id);
    await session.quiet();
    expect(untold).toMatchObject([failed.error]);
    await expect(session.startRun(runInit({ clientRunId: 'third' }))).rejects.toMatchObject(failed.error);
    expect(session.state.lastRun?.runId).toBe(runId);
    expect(await (await session.startRun(runInit({ clientRunId: 'second' }))).done).toMatchObject(failed);
  });
});

describe('closing a session whose log cannot be written', () => {
  it('does not say again what a caller was told [SES-2]', async () => {
    const { fill, sessions } = fullDisk();
    const { create, engine } = engineHarness({ sessions, turns: [turnParts('hi')] });
    const session = await create();
    fill();
    await expect(runToEnd(session)).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
    await session.close();
    await engine.stop();
  });

  it('says so where nobody was told, and lets the other sessions go all the same [SES-2] [SES-4]', async () => {
    const { fill, memory, sessions } = fullDisk();
    const { create, engine } = engineHarness({ sessions });
    const ids = [(await create()).id, (await create()).id];
    fill();
    await expect(engine.stop()).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
    expect(ids.map(memory.isOpen)).toEqual([false, false]);
  });
});
