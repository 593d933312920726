import { describe, expect, it } from '@jest/globals';
import { flush } from '@agentd/contract/testing';
import { SessionJournal, type SessionListener } from './session-journal.ts';
import { memorySessionStore } from './testing/memory-session-store.ts';

const first = {
  type: 'session_created',
  handle: 'default_00000001',
  agent: 'default',
  cwd: '/project',
  title: '',
  origin: null,
} as const;
const mode = (mode: 'ask' | 'yolo') => ({ type: 'permission_mode_set', mode }) as const;

async function setup(listener: (seen: number[]) => SessionListener) {
  const store = memorySessionStore(() => 0);
  const { events, log } = await store.create('s', first);
  const seen: number[] = [];
  return {
    journal: new SessionJournal({ sessionId: 's', events, log, listener: listener(seen) }),
    seen,
    store,
  };
}

const collecting = (seen: number[]): SessionListener => ({ event: ({ seq }) => seen.push(seq) });

describe('SessionJournal', () => {
  it('J1 applies an event to the state at once', async () => {
    const { journal, store } = await setup(collecting);
    journal.append(mode('yolo'), null);
    expect(journal.state.mode).toBe('yolo');
    expect(store.appended('s')).toHaveLength(2);
  });

  it('J2 shows an event only when a sync that covers it is over, in order, once [SES-2]', async () => {
    const { journal, seen, store } = await setup(collecting);
    const { release } = store.holdSyncs();
    journal.append(mode('yolo'), null);
    const syncing = journal.sync();
    journal.append(mode('ask'), null);
    await flush();
    expect(seen).toEqual([]);
    release();
    await syncing;
    expect(seen).toEqual([2]);
    await journal.sync();
    expect(seen).toEqual([2, 3]);
  });

  it('J2 shows nothing that could not be written [SES-2]', async () => {
    const { journal, seen, store } = await setup(collecting);
    store.failSyncs();
    journal.append(mode('yolo'), null);
    await expect(journal.sync()).rejects.toMatchObject({ code: 'ENGINE_LOG_FAILED' });
    expect(seen).toEqual([]);
  });

  it('J2 keeps the order when a listener appends', async () => {
    const { journal, seen } = await setup((seen) => ({
      event: ({ seq }) => {
        seen.push(seq);
        if (seq === 2) journal.append(mode('ask'), null);
      },
    }));
    journal.append(mode('yolo'), null);
    journal.append(mode('yolo'), null);
    await journal.sync();
    await journal.sync();
    expect(seen).toEqual([2, 3, 4]);
  });

  it('J3 cuts off a listener that throws', async () => {
    let calls = 0;
    const { journal } = await setup(() => ({
      event: () => {
        calls += 1;
        throw new Error('a bug of the listener');
      },
    }));
    journal.append(mode('yolo'), null);
    journal.append(mode('ask'), null);
    await journal.sync();
    expect(calls).toBe(1);
  });

  it('passes live events on at once, and cuts off whoever throws there', async () => {
    let calls = 0;
    const { journal } = await setup(() => ({
      live: () => {
        calls += 1;
        throw new Error('a bug of the listener');
      },
    }));
    const event = { type: 'tool_message', tool_call_id: 'c', text: 'x' } as const;
    journal.live(event);
    journal.live(event);
    expect(calls).toBe(1);
  });
});
