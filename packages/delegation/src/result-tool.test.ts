import { describe, expect, it } from '@jest/globals';
import { flush } from '@agentd/contract/testing';
import { delegate, rootAtWork, running, world } from './test/world.ts';

async function setup() {
  const { host, delegation } = world({ settings: { maxConcurrency: 1 } });
  const root = await rootAtWork(host);
  const { child } = await delegate(host, root, { background: true });
  await running(host, child);
  const result = (args: object = {}) =>
    host.call(root.sessionId, 'get_subagent_result', { args: { session_id: child.handle, ...args } });
  return { host, delegation, root, child, result };
}

describe('get_subagent_result', () => {
  it('never waits, and is empty while the child runs, whatever the page [DLG-8]', async () => {
    const { host, child, result } = await setup();
    host.say(child.sessionId, 'half of it');
    const { text, metadata } = await result({ offset: 5 });
    expect(text).toBe('<status>running</status>\n<content>\n</content>');
    expect(metadata).toMatchObject({ session_id: child.sessionId, handle: child.handle, status: 'running' });
  });

  it('is queued for a child that waits [DLG-8] [DLG-9]', async () => {
    const { host, root } = await setup();
    const { call, child } = await delegate(host, root, { background: true });
    expect((await call).metadata).toMatchObject({ status: 'queued' });
    const { text } = await host.call(root.sessionId, 'get_subagent_result', {
      args: { session_id: child.sessionId },
    });
    expect(text).toBe('<status>queued</status>\n<content>\n</content>');
  });

  it('pages the last text of the newest turn [DLG-8] [OUT-17]', async () => {
    const { host, child, result } = await setup();
    host.say(child.sessionId, 'an earlier turn');
    await host.end(child.sessionId, Array.from({ length: 3000 }, (_, index) => `l${index}`).join('\n'));
    const whole = await result();
    expect(whole.text.split('\n')).toHaveLength(2003);
    expect(whole.text).toContain('<status>completed</status>\n<content>\n1: l0\n');
    expect(whole.metadata).toMatchObject({ total_lines: 3000, next_offset: 2000 });
    const rest = await result({ offset: 2000 });
    expect(rest.text.endsWith('\n3000: l2999\n</content>')).toBe(true);
    expect(rest.metadata).not.toHaveProperty('next_offset');
    expect((await result({ limit: 2500 })).metadata).toMatchObject({ next_offset: 2500 });
    expect((await result({ offset: 3000 })).error?.code).toBe('invalid_arguments');
    expect((await result({ limit: 0 })).error?.code).toBe('invalid_arguments');
  });

  it.each([
    [
      'failed',
      (world: Awaited<ReturnType<typeof setup>>) => world.host.end(world.child.sessionId, new Error('x')),
    ],
    ['cancelled', (world: Awaited<ReturnType<typeof setup>>) => world.host.cancelRun(world.child.sessionId)],
  ])('shows what a child had that is %s [DLG-8] [DLG-10]', async (status, end) => {
    const setUp = await setup();
    setUp.host.say(setUp.child.sessionId, 'half of it');
    await end(setUp);
    await flush();
    expect((await setUp.result()).text).toBe(
      `<status>${status}</status>\n<content>\n1: half of it\n</content>`,
    );
  });

  it('says running of an ended child that a message woke, until its new turn ends [DLG-7]', async () => {
    const { host, child, result } = await setup();
    await host.end(child.sessionId, 'first');
    await flush();
    expect((await result()).text).toContain('<status>completed</status>');
    await host.prompt(child.sessionId, 'a message');
    expect((await result()).text).toBe('<status>running</status>\n<content>\n</content>');
    expect((await result({ session_id: 'nobody' })).error?.message).toContain('— running (session_id');
    await host.end(child.sessionId, 'second');
    expect((await result()).text).toBe('<status>completed</status>\n<content>\n1: second\n</content>');
  });

  it('asks for the agent of the child [PERM-10]', async () => {
    const { delegation, root, child } = await setup();
    const session = { id: root.sessionId, cwd: '/', agent: 'lead' };
    const [, ...tools] = await delegation.tools(session);
    for (const tool of tools) {
      const context = { callId: 'c', session, turn: {}, model: null };
      const call = await tool.prepare({ session_id: child.handle }, context, new AbortController().signal);
      expect(call.permission).toEqual({ action: 'delegate', label: 'explore' });
    }
  });
});
