import { describe, expect, it } from '@jest/globals';
import { delegate, rootAtWork, running, story, told, world } from './test/world.ts';

describe('delegate_subagent', () => {
  it('waits in the foreground for the end and answers with it [DLG-3]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root);
    await running(host, child);
    expect(story(host, root.sessionId)).toEqual(['reserved', 'started']);
    await host.end(child.sessionId, 'All is well.');
    expect(await call).toEqual({
      outcome: 'completed',
      text: `All is well.\n[subagent session ${child.handle}; completed; 1 line; full output shown]`,
      metadata: { session_id: child.sessionId, handle: child.handle, status: 'completed' },
      error: null,
    });
    expect(story(host, root.sessionId)).toEqual(['reserved', 'started', 'finished']);
    expect(told(host, root.sessionId)).toEqual([]);
  });

  it('returns at once in the background and pushes the result to the parent, woken once [DLG-3]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root, { background: true });
    expect((await call).text).toBe(`Subagent started. [subagent session ${child.handle}]`);
    await running(host, child);
    expect(delegation.quiet(root.rootId)).toBe(false);
    await host.end(root.sessionId, 'I wait.');
    await host.end(child.sessionId, 'Done.');
    await delegation.settled(root.rootId);
    expect(delegation.quiet(root.rootId)).toBe(true);
    expect(told(host, root.sessionId)).toEqual([
      `Done.\n[subagent session ${child.handle}; completed; 1 line; full output shown]`,
    ]);
    expect(host.woken).toEqual([root.sessionId]);
  });
});
