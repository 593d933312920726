import { describe, expect, it } from '@jest/globals';
import type { SessionFacts } from '@agentd/contract';
import { countingIds, flush } from '@agentd/contract/testing';
import { delegate, rootAtWork, running, world } from './test/world.ts';

describe('the queue of a root', () => {
  it('runs as many background children as the limit allows, queues four times as many and refuses the next [DLG-9]', async () => {
    const { host } = world({ settings: { maxConcurrency: 2 } });
    const root = await rootAtWork(host);
    const children: SessionFacts[] = [];
    for (let count = 0; count < 10; count += 1)
      children.push((await delegate(host, root, { background: true })).child);
    const args = { description: 'd', prompt: 'p', agent_type: 'explore', background: true };
    const refused = await host.call(root.sessionId, 'delegate_subagent', { args });
    expect(refused.error?.code).toBe('delegation_full');
    expect(await host.tree(root.rootId)).toHaveLength(11);
    const started: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      await flush();
      const atWork = (await host.tree(root.rootId)).filter(
        ({ status, parentId }) => status === 'running' && parentId !== null,
      );
      expect(atWork.length).toBeLessThanOrEqual(2);
      started.push(...atWork.map(({ sessionId }) => sessionId).filter((id) => !started.includes(id)));
      await host.end(atWork[0]!.sessionId, 'done');
    }
    expect(started).toEqual(children.map(({ sessionId }) => sessionId));
  });

  it('is not for foreground nor for nested children [DLG-9]', async () => {
    const { host } = world({ settings: { maxConcurrency: 1 } });
    const root = await rootAtWork(host);
    const first = await delegate(host, root, { background: true });
    await running(host, first.child);
    const [foreground, nested, deeper] = [
      await delegate(host, root),
      await delegate(host, first.child, { background: true }),
      await delegate(host, first.child, { background: true }),
    ];
    for (const { child } of [foreground, nested, deeper]) await running(host, child);
  });

  it('lets nobody pass who waits already, though a turn is free [DLG-9]', async () => {
    const ids = countingIds();
    const first = world({ ids, settings: { maxConcurrency: 1 } });
    const root = await rootAtWork(first.host);
    for (let count = 0; count < 2; count += 1) await delegate(first.host, root, { background: true });
    // A process with more turns to give, which has not taken up what waits.
    const second = world({ ids, settings: { maxConcurrency: 2 }, disk: first.host.crash() });
    await second.host.prompt(root.sessionId, 'go on');
    const { call } = await delegate(second.host, root, { background: true });
    expect((await call).metadata).toMatchObject({ status: 'queued' });
    expect(second.host.ledger(root.sessionId).unfinished.map(({ phase }) => phase)).toEqual([
      'started',
      'queued',
      'queued',
    ]);
  });

  it('counts for each root by itself [DLG-9]', async () => {
    const { host } = world({ settings: { maxConcurrency: 1 } });
    for (const root of [await rootAtWork(host), await rootAtWork(host)]) {
      const { child } = await delegate(host, root, { background: true });
      await running(host, child);
    }
  });

  it('gives a turn to a child whose parent was paged out meanwhile [DLG-9]', async () => {
    const { host, delegation } = world({ settings: { maxConcurrency: 1 } });
    const root = await rootAtWork(host);
    const first = await delegate(host, root, { background: true });
    const second = await delegate(host, root, { background: true });
    await running(host, first.child);
    await host.end(root.sessionId, 'I wait.');
    host.pageOut(root.sessionId);
    await host.end(first.child.sessionId, 'one');
    await running(host, second.child);
    host.pageOut(root.sessionId);
    await host.end(second.child.sessionId, 'two');
    await delegation.settled(root.rootId);
    expect(host.ledger(root.sessionId).unfinished).toEqual([]);
  });
});
