import { describe, expect, it } from '@jest/globals';
import { deferred, flush } from '@agentd/contract/testing';
import type { LiveEvent, Session, SessionListener } from '@agentd/engine';
import { SessionPool } from './session-pool.ts';

const NEVER = new AbortController().signal;
const LIVE: LiveEvent = { type: 'tool_message', tool_call_id: 'c', text: 'hello' };

/** A pool of made-up sessions, numbered as they are opened. */
function setup({ maxTogether = 2, maxWaiting = 10, maxCalls = 100 } = {}) {
  const opened: SessionListener[] = [];
  const closed: string[] = [];
  const open = async (listener: SessionListener): Promise<Session> => {
    const id = `s${opened.push(listener)}`;
    return { id, close: async () => void closed.push(id) } as Partial<Session> as Session;
  };
  const pool = new SessionPool({ open, maxTogether, maxWaiting, maxCalls });
  /** A call that ends when `end` is called; `used` has its session once it runs. */
  const call = (signal = NEVER) => {
    const end = deferred();
    const used: string[] = [];
    const heard: LiveEvent[] = [];
    const run = async (session: Session): Promise<string> => {
      used.push(session.id);
      await end.promise;
      return session.id;
    };
    const done = pool.use({ run, live: (event) => heard.push(event) }, signal);
    return { done, used, heard, end: end.resolve, fail: end.reject };
  };
  return { opened, closed, call };
}

describe('SessionPool', () => {
  it('S1 gives each call that overlaps a session of its own, and uses one that is free again', async () => {
    const { call, opened } = setup();
    const [first, second] = [call(), call()];
    await flush();
    expect([first.used, second.used]).toEqual([['s1'], ['s2']]);
    second.end();
    await second.done;
    const third = call();
    third.end();
    expect(await third.done).toBe('s2');
    expect(opened).toHaveLength(2);
    first.end();
    await first.done;
  });

  it('S1 tells each call what its own session says', async () => {
    const { call, opened } = setup();
    const [first, second] = [call(), call()];
    await flush();
    opened[1]?.live?.(LIVE, 's2');
    expect([first.heard, second.heard]).toEqual([[], [LIVE]]);
    for (const one of [first, second]) one.end();
    await Promise.all([first.done, second.done]);
    opened[1]?.live?.(LIVE, 's2');
    expect(second.heard).toEqual([LIVE]);
  });

  it('S2 lets the rest wait in their order, and refuses what is beyond', async () => {
    const { call } = setup({ maxTogether: 1, maxWaiting: 2 });
    const [first, second, third] = [call(), call(), call()];
    await expect(call().done).rejects.toMatchObject({ code: 'resource_limit' });
    await flush();
    first.end();
    await first.done;
    await flush();
    expect([second.used, third.used]).toEqual([['s1'], []]);
    second.end();
    third.end();
    expect(await Promise.all([second.done, third.done])).toEqual(['s1', 's1']);
  });

  it('S3 never runs what was cancelled while it waited', async () => {
    const { call } = setup({ maxTogether: 1 });
    const abort = new AbortController();
    const first = call();
    const second = call(abort.signal);
    const third = call();
    abort.abort('enough');
    await expect(second.done).rejects.toMatchObject({ code: 'cancelled' });
    await expect(call(abort.signal).done).rejects.toBe('enough');
    first.end();
    third.end();
    await Promise.all([first.done, third.done]);
    expect(second.used).toEqual([]);
  });

  it('S4 closes a session whose call rejected, and opens another one', async () => {
    const { call, closed } = setup({ maxTogether: 1 });
    const first = call();
    await flush();
    first.fail(new Error('disk full'));
    await expect(first.done).rejects.toThrow('disk full');
    expect(closed).toEqual(['s1']);
    const second = call();
    second.end();
    expect(await second.done).toBe('s2');
  });

  it('S4 closes a session that has had its share of calls', async () => {
    const { call, closed, opened } = setup({ maxCalls: 2 });
    for (const session of ['s1', 's1', 's2']) {
      const one = call();
      one.end();
      expect(await one.done).toBe(session);
    }
    expect(closed).toEqual(['s1']);
    expect(opened).toHaveLength(2);
  });
});
