import { describe, expect, it } from '@jest/globals';
import type { SessionFacts } from '@agentd/contract';
import { flush } from '@agentd/contract/testing';
import { delegate, rootAtWork, running, story, told, world } from './test/world.ts';
import type { MemoryHost } from './testing/memory-host.ts';

const cancel = (host: MemoryHost, parent: SessionFacts, { handle }: SessionFacts) =>
  host.call(parent.sessionId, 'cancel_subagent', { args: { session_id: handle, reason: 'enough' } });

const statusOf = async (host: MemoryHost, { sessionId }: SessionFacts) => (await host.run(sessionId))?.status;

describe('cancel_subagent', () => {
  it('ends a child at work and shows what it had; nobody tells the parent again [DLG-14] [DLG-5] [DLG-6]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    host.say(child.sessionId, 'half of it');
    expect(await cancel(host, root, child)).toEqual({
      outcome: 'completed',
      text: `half of it\n[subagent session ${child.handle}; cancelled; 1 line; full output shown]`,
      metadata: { session_id: child.sessionId, handle: child.handle, status: 'cancelled' },
      error: null,
    });
    await delegation.settled(root.rootId);
    expect(await statusOf(host, child)).toBe('cancelled');
    expect(told(host, root.sessionId)).toEqual([]);
    expect(host.woken).toEqual([]);
  });

  it('takes a queued child out of the queue, and the next one gets the turn [DLG-14] [DLG-9]', async () => {
    const { host, delegation } = world({ settings: { maxConcurrency: 1 } });
    const root = await rootAtWork(host);
    const [first, second, third] = [
      await delegate(host, root, { background: true }),
      await delegate(host, root, { background: true }),
      await delegate(host, root, { background: true }),
    ];
    expect((await cancel(host, root, second.child)).text).toBe(
      `[subagent session ${second.child.handle}; cancelled; 0 lines; full output shown]`,
    );
    await host.end(first.child.sessionId, 'done');
    await running(host, third.child);
    expect(await host.run(second.child.sessionId)).toBe(null);
    const { text } = await host.call(root.sessionId, 'get_subagent_result', {
      args: { session_id: second.child.handle },
    });
    expect(text).toBe('<status>cancelled</status>\n<content>\n</content>');
    await host.end(third.child.sessionId, 'done');
    await delegation.settled(root.rootId);
    expect(told(host, root.sessionId)).toHaveLength(2);
  });

  it('gives an ended child its own notice [DLG-14]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    await host.end(child.sessionId, 'done');
    await flush();
    const { text, metadata } = await cancel(host, root, child);
    expect(text).toBe(`done\n[subagent session ${child.handle}; completed; 1 line; full output shown]`);
    expect(metadata).toMatchObject({ status: 'completed' });
    expect(await statusOf(host, child)).toBe('completed');
  });

  it('ends a child that a message woke [DLG-14] [DLG-7]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    await host.end(child.sessionId, 'first');
    await flush();
    await host.prompt(child.sessionId, 'a message');
    expect((await cancel(host, root, child)).text).toBe(
      `[subagent session ${child.handle}; cancelled; 0 lines; full output shown]`,
    );
    expect(told(host, root.sessionId)).toHaveLength(1);
  });

  it('ends all prompts that a child still has before it [DLG-14] [DLG-13]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    const args = { description: 'd', prompt: 'p', agent_type: 'explore', background: true };
    await host.call(root.sessionId, 'delegate_subagent', {
      args: { ...args, resume_session_id: child.handle },
    });
    await cancel(host, root, child);
    await delegation.settled(root.rootId);
    expect(await statusOf(host, child)).toBe('cancelled');
    expect(story(host, root.sessionId)).toEqual([
      'reserved',
      'started',
      'reserved',
      'started',
      'finished',
      'finished',
    ]);
    expect(told(host, root.sessionId)).toEqual([]);
  });

  it('leaves a result alone that came first, and two cancels at once do no harm [DLG-14] [DLG-11]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    const ended = host.end(child.sessionId, 'just in time');
    const both = await Promise.all([cancel(host, root, child), cancel(host, root, child), ended]);
    await delegation.settled(root.rootId);
    for (const { text } of both.slice(0, 2) as { readonly text: string }[])
      expect(text).toBe(
        `just in time\n[subagent session ${child.handle}; completed; 1 line; full output shown]`,
      );
    expect(told(host, root.sessionId)).toHaveLength(1);
  });
});

describe('the cancel of a run', () => {
  it('takes its children with it, in the foreground and in the background, and theirs [DLG-10]', async () => {
    const { host, delegation } = world({ settings: { maxConcurrency: 1 } });
    const root = await rootAtWork(host);
    const foreground = await delegate(host, root);
    await running(host, foreground.child);
    const background = await delegate(host, root, { background: true });
    const queued = await delegate(host, root, { background: true });
    await running(host, background.child);
    const nested = [
      await delegate(host, foreground.child),
      await delegate(host, background.child, { background: true }),
    ];
    for (const { child } of nested) await running(host, child);
    host.say(foreground.child.sessionId, 'half of it');
    await host.cancelRun(root.sessionId);
    await delegation.settled(root.rootId);
    for (const { child } of [foreground, background, ...nested])
      expect(await statusOf(host, child)).toBe('cancelled');
    expect(await host.run(queued.child.sessionId)).toBe(null);
    expect(await foreground.call).toMatchObject({
      outcome: 'cancelled',
      text: `half of it\n[subagent session ${foreground.child.handle}; cancelled; 1 line; full output shown]`,
      error: { code: 'cancelled' },
    });
    const sessions = await host.tree(root.rootId);
    expect(sessions.flatMap(({ sessionId }) => told(host, sessionId))).toEqual([]);
    expect(host.woken).toEqual([]);
    expect(delegation.quiet(root.rootId)).toBe(true);
  });

  it('reaches what a child left at work that has ended itself, and a child that was woken [DLG-10] [DLG-7]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    const nested = await delegate(host, child, { background: true });
    const deeper = await delegate(host, nested.child, { background: true });
    await running(host, deeper.child);
    for (const { sessionId } of [child, nested.child]) await host.end(sessionId, 'I wait for mine.');
    await flush();
    await host.prompt(nested.child.sessionId, 'a message');
    await host.cancelRun(root.sessionId);
    await delegation.settled(root.rootId);
    expect(await statusOf(host, child)).toBe('completed');
    for (const one of [nested, deeper]) expect(await statusOf(host, one.child)).toBe('cancelled');
    expect(told(host, nested.child.sessionId)).toEqual([]);
    expect(delegation.quiet(root.rootId)).toBe(true);
  });

  it('leaves a child alone that an earlier run still has at work, and takes back what it gave it [DLG-10] [DLG-13]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    await host.end(root.sessionId, 'I wait.');
    await host.prompt(root.sessionId, 'another run');
    const args = { description: 'd', prompt: 'p', agent_type: 'explore', background: true };
    await host.call(root.sessionId, 'delegate_subagent', {
      args: { ...args, resume_session_id: child.handle },
    });
    await host.cancelRun(root.sessionId);
    await flush();
    expect(await statusOf(host, child)).toBe('running');
    await host.end(child.sessionId, 'done');
    await delegation.settled(root.rootId);
    expect(host.ledger(root.sessionId).finished.map(({ end }) => end?.status)).toEqual([
      'completed',
      'cancelled',
    ]);
  });

  it('leaves children of earlier runs alone [DLG-10]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const earlier = await delegate(host, root, { background: true });
    await running(host, earlier.child);
    await host.end(root.sessionId, 'I wait.');
    await host.prompt(root.sessionId, 'another run');
    const later = await delegate(host, root, { background: true });
    await running(host, later.child);
    await host.cancelRun(root.sessionId);
    await flush();
    expect(await statusOf(host, later.child)).toBe('cancelled');
    expect(await statusOf(host, earlier.child)).toBe('running');
    await host.end(earlier.child.sessionId, 'still here');
    await delegation.settled(root.rootId);
    expect(told(host, root.sessionId)).toHaveLength(1);
    expect(host.woken).toEqual([root.sessionId]);
  });

  it('keeps a result that came in the same moment, and wakes nobody for it [DLG-10] [DLG-11]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    await running(host, child);
    const disk = host.log(root.sessionId).holdSyncs();
    const ended = host.end(child.sessionId, 'just in time');
    const cancelled = host.cancelRun(root.sessionId);
    await flush();
    disk.release();
    await Promise.all([ended, cancelled]);
    await delegation.settled(root.rootId);
    expect(told(host, root.sessionId)).toHaveLength(1);
    expect(host.woken).toEqual([]);
  });

  it('resolves the call that waits when somebody else ends the child [DLG-10]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root);
    await running(host, child);
    host.say(child.sessionId, 'half of it');
    await host.cancelRun(child.sessionId);
    expect(await call).toMatchObject({
      outcome: 'cancelled',
      text: `half of it\n[subagent session ${child.handle}; cancelled; 1 line; full output shown]`,
      metadata: { session_id: child.sessionId, status: 'cancelled' },
      error: { message: expect.stringContaining(`resume_session_id "${child.handle}"`) },
    });
    expect(await statusOf(host, root)).toBe('running');
  });

  it('that comes while a child is being taken in leaves no child at work, and names none that is not there [DLG-10] [DLG-13] [SCH-6]', async () => {
    for (let ticks = 0; ticks < 60; ticks += 1) {
      const { host, delegation } = world();
      const root = await rootAtWork(host);
      const background = ticks % 2 === 0;
      const args = { description: 'd', prompt: 'p', agent_type: 'explore', background };
      void host.call(root.sessionId, 'delegate_subagent', { args });
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      await host.cancelRun(root.sessionId);
      await delegation.settled(root.rootId);
      await flush();
      const tree = await host.tree(root.rootId);
      expect(tree.map(({ status }) => status)).not.toContain('running');
      for (const { payload } of host.log(root.sessionId).events)
        if (payload.type === 'delegation_reserved')
          expect(tree.map(({ sessionId }) => sessionId)).toContain(payload['child_id']);
      expect(story(host, root.sessionId).filter((step) => step === 'finished').length).toBe(
        story(host, root.sessionId).filter((step) => step === 'reserved').length,
      );
    }
  });
});
