import { describe, expect, it } from '@jest/globals';
import type { SessionFacts } from '@agentd/contract';
import { countingIds, flush } from '@agentd/contract/testing';
import { delegate, rootAtWork, running, story, told, world, type World } from './test/world.ts';

const settings = { maxConcurrency: 1 };

/** A process that can die; `next` is the one after it, once it has taken up what was left. */
function lives() {
  const ids = countingIds();
  return {
    first: world({ ids, settings }),
    next: async (before: World, kept = 0): Promise<World> => {
      const after = world({ ids, settings, disk: before.host.crash(() => kept) });
      for (const { sessionId } of await rootsOf(after)) await after.delegation.treeOpened(sessionId);
      await flush();
      return after;
    },
  };
}

async function rootsOf({ host }: World): Promise<readonly SessionFacts[]> {
  const root = await host.find('00000000-0000-4000-8000-000000000001');
  return root === null ? [] : [root];
}

const notice = ({ handle }: SessionFacts, end: string) =>
  expect.stringContaining(`[subagent session ${handle}; ${end}`);

describe('after a crash', () => {
  it('a background child that was cut short is told of with the text that it had, once, and the parent is woken [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const { child } = await delegate(first.host, root, { background: true });
    await running(first.host, child);
    first.host.say(child.sessionId, 'half of it');
    await first.host.log(child.sessionId).sync();
    const second = await next(first);
    expect(told(second.host, root.sessionId)).toEqual([
      `half of it\n[subagent session ${child.handle}; interrupted; 1 line; full output shown]`,
    ]);
    expect(second.host.woken).toEqual([root.sessionId]);
    const third = await next(await next(second));
    expect(told(third.host, root.sessionId)).toHaveLength(1);
    expect(third.host.woken).toEqual([]);
  });

  it('a child that had ended is told of as it ended, whatever the parent’s log had of it [DLG-11] [field F12]', async () => {
    for (const kept of [0, 30, 60, 100]) {
      const { first, next } = lives();
      const root = await rootAtWork(first.host);
      const { child } = await delegate(first.host, root, { background: true });
      await running(first.host, child);
      const disk = first.host.log(root.sessionId).holdSyncs();
      await first.host.end(child.sessionId, 'done');
      await flush();
      const second = await next(first, kept);
      disk.release();
      expect(told(second.host, root.sessionId)).toEqual([notice(child, 'completed')]);
      expect(story(second.host, root.sessionId).filter((step) => step === 'finished')).toHaveLength(1);
    }
  });

  it('the queue goes on in its order [DLG-11] [DLG-9]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const children = [];
    for (let count = 0; count < 4; count += 1)
      children.push((await delegate(first.host, root, { background: true })).child);
    await running(first.host, children[0]!);
    let process = await next(first);
    for (const child of children.slice(1)) {
      await running(process.host, child);
      process = await next(process);
    }
    expect(told(process.host, root.sessionId)).toEqual(children.map((child) => notice(child, 'interrupted')));
  });

  it('a child that was waited for in the foreground comes through the inbox, since the call is gone [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const { child } = await delegate(first.host, root);
    await running(first.host, child);
    const disk = first.host.log(root.sessionId).holdSyncs();
    await first.host.end(child.sessionId, 'done');
    await flush();
    const second = await next(first, 50);
    disk.release();
    expect(told(second.host, root.sessionId)).toEqual([notice(child, 'completed')]);
  });

  it('a foreground result that its call has told stays told once [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const { call, child } = await delegate(first.host, root);
    await running(first.host, child);
    await first.host.end(child.sessionId, 'done');
    await call;
    const second = await next(first);
    expect(told(second.host, root.sessionId)).toEqual([]);
    expect(second.host.woken).toEqual([]);
  });

  it('a reservation without a child becomes one: at work in the background, interrupted in the foreground [DLG-11]', async () => {
    for (const background of [true, false]) {
      const { first, next } = lives();
      const root = await rootAtWork(first.host);
      Object.assign(first.ports.host, { createChild: () => new Promise(() => undefined) });
      const args = { description: 'd', prompt: 'p', agent_type: 'explore', background };
      void first.host.call(root.sessionId, 'delegate_subagent', { args });
      await flush();
      const second = await next(first);
      const [, child] = await second.host.tree(root.rootId);
      expect(child?.status).toBe(background ? 'running' : 'idle');
      expect(told(second.host, root.sessionId)).toEqual(background ? [] : [notice(child!, 'interrupted')]);
    }
  });

  it('children of a cancelled run end, and nobody is told [DLG-10] [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const atWork = await delegate(first.host, root, { background: true });
    await running(first.host, atWork.child);
    const queued = await delegate(first.host, root, { background: true });
    Object.assign(first.ports.host, {
      cancelRun: () => new Promise(() => undefined),
      use: () => new Promise(() => undefined),
    });
    const log = first.host.log(root.sessionId);
    log.append({ type: 'run_cancelled', reason: 'user' }, (await first.host.run(root.sessionId))!.runId);
    await log.sync();
    const second = await next(first);
    expect(second.host.ledger(root.sessionId).finished).toMatchObject([
      { childId: atWork.child.sessionId, end: { delivery: 'none' } },
      { childId: queued.child.sessionId, end: { status: 'cancelled', delivery: 'none' } },
    ]);
    expect(told(second.host, root.sessionId)).toEqual([]);
    expect(await second.host.run(queued.child.sessionId)).toBe(null);
    expect(second.delegation.quiet(root.rootId)).toBe(true);
  });

  it('nested children come to their own parents [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const { child } = await delegate(first.host, root, { background: true });
    await running(first.host, child);
    const nested = await delegate(first.host, child, { background: true });
    await running(first.host, nested.child);
    await first.host.end(child.sessionId, 'I wait for mine.');
    await flush();
    const second = await next(first);
    expect(told(second.host, root.sessionId)).toEqual([notice(child, 'completed')]);
    expect(told(second.host, child.sessionId)).toEqual([notice(nested.child, 'interrupted')]);
  });

  it('sessions that can have left nothing stay closed [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const { child } = await delegate(first.host, root);
    await running(first.host, child);
    await first.host.end(child.sessionId, 'done');
    await flush();
    const opened: string[] = [];
    const second = await next(first);
    const { use } = second.host;
    Object.assign(second.ports.host, {
      use: (id: string, work: never) => {
        opened.push(id);
        return use(id, work);
      },
    });
    await second.delegation.treeOpened(root.sessionId);
    expect(opened).toEqual([root.sessionId]);
  });

  it('an end whose message was lost with a damaged line is told again [DLG-11]', async () => {
    const ids = countingIds();
    const first = world({ ids });
    const root = await rootAtWork(first.host);
    const { child } = await delegate(first.host, root, { background: true });
    await running(first.host, child);
    await first.host.end(child.sessionId, 'done');
    await first.delegation.settled(root.rootId);
    const disk = new Map(
      [...first.host.crash()].map(([id, events]) => [
        id,
        events.filter(({ payload }) => payload.type !== 'message_accepted'),
      ]),
    );
    const second = world({ ids, disk });
    await second.delegation.treeOpened(root.sessionId);
    await second.delegation.treeOpened(root.sessionId);
    expect(told(second.host, root.sessionId)).toEqual([notice(child, 'completed')]);
    expect(second.host.woken).toEqual([root.sessionId]);
  });
});

describe('a stop', () => {
  it('leaves what is at work and what waits to the next process, and lets everybody go [DLG-11]', async () => {
    const { first, next } = lives();
    const root = await rootAtWork(first.host);
    const atWork = await delegate(first.host, root, { background: true });
    await running(first.host, atWork.child);
    const queued = await delegate(first.host, root, { background: true });
    await first.host.end(root.sessionId, 'I wait.');
    first.host.say(atWork.child.sessionId, 'half of it');
    await first.host.stop();
    await first.delegation.settled(root.rootId);
    expect(first.delegation.quiet(root.rootId)).toBe(true);
    expect(story(first.host, root.sessionId)).not.toContain('finished');
    const second = await next(first, 100);
    expect(told(second.host, root.sessionId)).toEqual([
      `half of it\n[subagent session ${atWork.child.handle}; cancelled; 1 line; full output shown]`,
    ]);
    await running(second.host, queued.child);
  });

  it('ends a call that waits with the child’s name and with what it had [DLG-6] [DLG-10]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root);
    await running(host, child);
    host.say(child.sessionId, 'half of it');
    await host.stop();
    expect(await call).toMatchObject({
      outcome: 'cancelled',
      text: `half of it\n[subagent session ${child.handle}; cancelled; 1 line; full output shown]`,
      metadata: { session_id: child.sessionId, handle: child.handle },
    });
  });

  it('at any point of an admission leaves nothing that waits for ever [DLG-11] [SCH-6]', async () => {
    for (let ticks = 0; ticks < 60; ticks += 1) {
      const ids = countingIds();
      const first = world({ ids });
      const root = await rootAtWork(first.host);
      const background = ticks % 2 === 0;
      const args = { description: 'd', prompt: 'p', agent_type: 'explore', background };
      const call = first.host.call(root.sessionId, 'delegate_subagent', { args });
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      await first.host.stop();
      await call;
      await first.delegation.settled(root.rootId);
      const second = world({ ids, disk: first.host.crash(() => 100) });
      await second.delegation.treeOpened(root.sessionId);
      await flush();
      expect(second.host.ledger(root.sessionId).unfinished).toEqual([]);
    }
  });
});
