import { describe, expect, it } from '@jest/globals';
import { turnParts } from '@agentd/contract/testing';
import { engineError } from './errors.ts';
import type { SessionStore } from './ports.ts';
import { engineHarness, runToEnd } from './testing/engine-harness.ts';
import { memorySessionStore } from './testing/memory-session-store.ts';

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
