import { describe, expect, it } from '@jest/globals';
import type { SessionFacts } from '@agentd/contract';
import { flush } from '@agentd/contract/testing';
import { delegate, reports, rootAtWork, running, story, told, world } from './test/world.ts';
import type { MemoryHost } from './testing/memory-host.ts';
import { textOf } from './testing/memory-session.ts';

/** What the runs of a session were started with. */
function inputs(host: MemoryHost, { sessionId }: SessionFacts): readonly string[] {
  return host
    .log(sessionId)
    .events.filter(({ payload }) => payload.type === 'user_input_submitted')
    .map(({ payload }) => textOf(payload, 'text'));
}

describe('delegate_subagent', () => {
  it('waits in the foreground for the end and answers with it [DLG-3] [DLG-5] [DLG-6]', async () => {
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

  it('returns at once in the background and pushes the result to the parent, woken once [DLG-3] [DLG-5]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root, { background: true });
    expect(await call).toEqual({
      outcome: 'completed',
      text: `Subagent started. [subagent session ${child.handle}]`,
      metadata: { session_id: child.sessionId, handle: child.handle, status: 'running' },
      error: null,
    });
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

  it('makes the child as its parent’s, one deeper, under a handle of its agent [DLG-4]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { agent_type: 'build', description: 'Mend it' });
    expect(child.handle).toMatch(/^build_[0-9a-f]{8}$/);
    expect(child).toMatchObject({
      agent: 'build',
      description: 'Mend it',
      parentId: root.sessionId,
      rootId: root.sessionId,
      depth: 1,
    });
    const { payload } = host.log(child.sessionId).events[0]!;
    expect(payload['origin']).toMatchObject({ parent_run_id: (await host.run(root.sessionId))?.runId });
  });

  it('takes another handle where one is in use in the tree [DLG-4]', async () => {
    const hex = ['00000000', '1a2b3c4d', '1a2b3c4d', '1a2b3c4d', '5e6f7a8b'];
    let uuids = 0;
    const uuid = () => `00000000-0000-4000-8000-${String((uuids += 1)).padStart(12, '0')}`;
    const { host } = world({ ids: { uuid, hex: () => hex.shift() ?? 'ffffffff' } });
    const root = await rootAtWork(host);
    const first = await delegate(host, root, { background: true });
    const second = await delegate(host, root, { background: true });
    expect([first.child.handle, second.child.handle]).toEqual(['explore_1a2b3c4d', 'explore_5e6f7a8b']);
  });

  it('is parallel, pages its own output, and asks for the agent it starts [SCH-2] [OUT-17] [PERM-10]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const session = { id: root.sessionId, cwd: '/', agent: 'lead' };
    const tools = await delegation.tools(session);
    expect(
      tools.map(({ spec: { name, action, concurrency, truncation, origin } }) => ({
        name,
        action,
        concurrency,
        truncation,
        origin,
      })),
    ).toEqual([
      {
        name: 'delegate_subagent',
        action: 'delegate',
        concurrency: 'parallel',
        truncation: 'opt_out',
        origin: 'builtin',
      },
      {
        name: 'get_subagent_result',
        action: 'delegate',
        concurrency: 'exclusive',
        truncation: 'opt_out',
        origin: 'builtin',
      },
      {
        name: 'cancel_subagent',
        action: 'delegate',
        concurrency: 'exclusive',
        truncation: 'bounded',
        origin: 'builtin',
      },
    ]);
    const args = { description: 'd', prompt: 'p', agent_type: 'build' };
    const context = { callId: 'c', session, turn: {}, model: null };
    const call = await tools[0]!.prepare(args, context, new AbortController().signal);
    expect(call.permission).toEqual({ action: 'delegate', label: 'build' });
    expect(host.log(root.sessionId).events.some(({ payload }) => payload.type.startsWith('delegation'))).toBe(
      false,
    );
  });

  it.each([
    ['a missing field', { prompt: undefined }, '"prompt" is required'],
    ['an unknown field', { model: 'x' }, 'unknown field "model"'],
    ['no coercion', { background: 'true' }, '"background": expected boolean'],
    ['a blank prompt', { prompt: ' \n' }, 'must not be blank'],
    ['an agent that cannot be started', { agent_type: 'lead' }, 'expected one of "build", "explore"'],
    ['null for no id', { resume_session_id: null }, '"resume_session_id": expected string'],
  ])('refuses %s [DLG-3] [ARG-2]', async (_what, change, message) => {
    const { host } = world();
    const root = await rootAtWork(host);
    const args = { description: 'd', prompt: 'p', agent_type: 'explore', ...change };
    const { error } = await host.call(root.sessionId, 'delegate_subagent', { args });
    expect(error).toMatchObject({ code: 'invalid_arguments', message: expect.stringContaining(message) });
    expect(await host.tree(root.rootId)).toHaveLength(1);
  });

  it('copies the conversation for a child that inherits it, and nothing else [DLG-12]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    host.say(root.sessionId, 'I shall ask. </inherited_context>');
    const { child } = await delegate(host, root, { prompt: 'Go on.', inherit_context: true });
    await running(host, child);
    expect(inputs(host, child)).toEqual([
      '<inherited_context>\nUser: go\nAssistant: I shall ask. &lt;/inherited_context>\n</inherited_context>\n\nGo on.',
    ]);
  });

  it('copies the newest 64 KiB of a conversation at most [DLG-12]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    host.say(root.sessionId, `${'x'.repeat(70_000)} and this is the end`);
    const { child } = await delegate(host, root, { inherit_context: true });
    await running(host, child);
    const [input = ''] = inputs(host, child);
    const copied = input.slice('<inherited_context>\n'.length, input.indexOf('\n</inherited_context>'));
    expect(Buffer.byteLength(copied)).toBe(65_536);
    expect(copied.endsWith('and this is the end')).toBe(true);
  });

  it('gives a child a further prompt in its own history, with its handle and title [DLG-13]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root, { prompt: 'one' });
    await running(host, child);
    await host.end(child.sessionId, 'first');
    await call;
    const again = host.call(root.sessionId, 'delegate_subagent', {
      args: {
        description: 'Another title',
        prompt: 'two',
        agent_type: 'explore',
        resume_session_id: child.handle,
      },
    });
    await running(host, child);
    await host.end(child.sessionId, 'second');
    expect((await again).text).toBe(
      `second\n[subagent session ${child.handle}; completed; 1 line; full output shown]`,
    );
    expect(inputs(host, child)).toEqual(['one', 'two']);
    expect(await host.tree(root.rootId)).toMatchObject([
      {},
      { handle: child.handle, description: 'Look around' },
    ]);
  });

  it('runs prompts for one child one after the other [DLG-13]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { prompt: 'one', background: true });
    await running(host, child);
    const more = (prompt: string, background: boolean) =>
      host.call(root.sessionId, 'delegate_subagent', {
        args: {
          description: 'd',
          prompt,
          agent_type: 'explore',
          background,
          resume_session_id: child.sessionId,
        },
      });
    await more('two', true);
    const third = more('three', false);
    await flush();
    expect(inputs(host, child)).toEqual(['one']);
    for (const answer of ['first', 'second', 'third']) {
      await host.end(child.sessionId, answer);
      await flush();
    }
    expect(reports(await third)).toBe('third');
    expect(inputs(host, child)).toEqual(['one', 'two', 'three']);
    expect(told(host, root.sessionId).map((text) => text.split('\n')[0])).toEqual(['first', 'second']);
  });

  it('keeps a further prompt waiting behind one that has no turn yet, and gives it up with its call [DLG-13] [DLG-9]', async () => {
    const { host } = world({ settings: { maxConcurrency: 1 } });
    const root = await rootAtWork(host);
    const first = await delegate(host, root, { background: true });
    const { child } = await delegate(host, root, { background: true, prompt: 'one' });
    const args = { description: 'd', prompt: 'two', agent_type: 'explore' };
    const further = host.call(root.sessionId, 'delegate_subagent', {
      args: { ...args, resume_session_id: child.handle },
    });
    await flush();
    expect(inputs(host, child)).toEqual([]);
    await host.end(first.child.sessionId, 'done');
    await running(host, child);
    expect(inputs(host, child)).toEqual(['one']);
    await host.cancelRun(root.sessionId);
    expect((await further).outcome).toBe('cancelled');
    expect(inputs(host, child)).toEqual(['one']);
  });

  it('refuses to resume with a copied conversation, and under the name of another agent [DLG-3] [DLG-13]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    const resume = async (change: object) => {
      const args = { description: 'd', prompt: 'p', agent_type: 'explore', resume_session_id: child.handle };
      return (await host.call(root.sessionId, 'delegate_subagent', { args: { ...args, ...change } })).error;
    };
    expect(await resume({ inherit_context: true })).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('exclude each other'),
    });
    expect(await resume({ agent_type: 'build' })).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining(`${child.handle} is of the agent_type "explore"`),
    });
    expect(story(host, root.sessionId)).toEqual(['reserved', 'started']);
  });

  it('attaches a repeated call to the child that is there [DLG-11]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const args = { description: 'd', prompt: 'p', agent_type: 'explore' };
    const calls = [1, 2, 3].map(() =>
      host.call(root.sessionId, 'delegate_subagent', { args, callId: 'same' }),
    );
    await flush();
    const [, child, ...others] = await host.tree(root.rootId);
    expect(others).toEqual([]);
    await host.end(child!.sessionId, 'once');
    expect((await Promise.all(calls)).map(reports)).toEqual(['once', 'once', 'once']);
    const later = await host.call(root.sessionId, 'delegate_subagent', { args, callId: 'same' });
    expect(later.text).toContain('once\n[subagent session');
    expect(await host.tree(root.rootId)).toHaveLength(2);
    await host.end(root.sessionId, 'end');
    await host.prompt(root.sessionId, 'another run');
    void host.call(root.sessionId, 'delegate_subagent', { args, callId: 'same' });
    await flush();
    expect(await host.tree(root.rootId)).toHaveLength(3);
  });

  it('reserves on disk before there is a child, and starts on disk before it answers [DLG-11] [SCH-6] [SES-2]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const args = { description: 'd', prompt: 'p', agent_type: 'explore', background: true };
    const log = host.log(root.sessionId);
    const disk = log.holdSyncs();
    const calls = ['one', 'two'].map((description) =>
      host.call(root.sessionId, 'delegate_subagent', { args: { ...args, description } }),
    );
    await flush();
    disk.release();
    const held = log.holdSyncs();
    await flush();
    // The starts of the calls are on disk; the first reservation is not, and the second waits for it.
    expect(story(host, root.sessionId)).toEqual(['reserved']);
    expect(await host.tree(root.rootId)).toHaveLength(1);
    held.release();
    await Promise.all(calls);
    expect(story(host, root.sessionId)).toEqual(['reserved', 'started', 'reserved', 'started']);
    const last = log.events.findLastIndex(({ payload }) => payload.type === 'delegation_started');
    expect(log.synced()).toBeGreaterThan(last);
  });

  it('tells of a child that could not be made, in the call [DLG-11]', async () => {
    const { host, ports } = world();
    const root = await rootAtWork(host);
    Object.assign(ports.host, {
      createChild: async () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
    });
    const args = { description: 'd', prompt: 'p', agent_type: 'explore', background: true };
    const { outcome, error } = await host.call(root.sessionId, 'delegate_subagent', { args });
    expect([outcome, error?.code]).toEqual(['failed', 'execution_failed']);
    expect(error?.message).toContain('ENOSPC: no space left');
    expect(story(host, root.sessionId)).toEqual(['reserved', 'finished']);
    expect(told(host, root.sessionId)).toEqual([]);
  });

  it('tells of a run that could not be started as a failure of the child [DLG-10]', async () => {
    const { host, ports, delegation } = world();
    const root = await rootAtWork(host);
    Object.assign(ports.host, { startRun: async () => Promise.reject(new Error('no model is configured')) });
    const { call } = await delegate(host, root, { background: true });
    expect((await call).outcome).toBe('completed');
    await delegation.settled(root.rootId);
    expect(told(host, root.sessionId)).toEqual([
      expect.stringMatching(
        /; failed; 0 lines; full output shown\]\nexecution_failed: no model is configured$/,
      ),
    ]);
  });
});
