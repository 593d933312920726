import { describe, expect, it } from '@jest/globals';
import { countingIds, flush } from '@agentd/contract/testing';
import { delegate, reports, rootAtWork, running, story, told, until, world } from './test/world.ts';
import type { MemoryLoop } from './testing/memory-run.ts';

const task = (change: object = {}) => ({ description: 'd', prompt: 'p', agent_type: 'build', ...change });

describe('what users of subagents met', () => {
  it('an id for resume that was made up starts nobody and names who there is [DLG-4] [field F1]', async () => {
    const { host } = world();
    const root = await rootAtWork(host);
    const { child } = await delegate(host, root, { background: true });
    const other = await rootAtWork(host);
    const foreign = await delegate(host, other, { background: true });
    const resume = (resume_session_id: unknown) =>
      host.call(root.sessionId, 'delegate_subagent', { args: task({ resume_session_id }) });
    const unknown = [
      '94807773-1228-4079-ab53-a2de32e6a697',
      'ses_doesnotexist',
      '',
      ` ${child.handle} `,
      ` ${child.sessionId}`,
      foreign.child.handle,
      foreign.child.sessionId,
    ];
    for (const reference of unknown) {
      const { error } = await resume(reference);
      expect(error?.code).toBe('unknown_subagent');
      expect(error?.message).toContain(`${child.handle} — Look around`);
      expect(error?.message).toContain(`(session_id ${child.sessionId})`);
      expect(error?.message).not.toContain(`(session_id ${foreign.child.sessionId})`);
    }
    expect((await resume(null)).error?.code).toBe('invalid_arguments');
    expect(await host.tree(root.rootId)).toHaveLength(2);
  });

  it.each(['a failure', 'a cancel', 'the end of its process'])(
    'a child that ends by %s keeps its id in the result, and goes on under it [DLG-6] [DLG-10] [DLG-13] [field F2]',
    async (end) => {
      const ids = countingIds();
      let { host, delegation } = world({ ids });
      const root = await rootAtWork(host);
      const { call, child } = await delegate(host, root);
      await running(host, child);
      host.say(child.sessionId, 'half of it');
      await host.log(child.sessionId).sync();
      if (end === 'the end of its process') {
        ({ host, delegation } = world({ ids, disk: host.crash() }));
        await delegation.treeOpened(root.sessionId);
        await flush();
        expect(told(host, root.sessionId)).toEqual([
          `half of it\n[subagent session ${child.handle}; interrupted; 1 line; full output shown]`,
        ]);
        await host.prompt(root.sessionId, 'go on');
      } else {
        if (end === 'a failure') await host.end(child.sessionId, new Error('overloaded'));
        else await host.cancelRun(child.sessionId);
        const { text, metadata } = await call;
        expect(text).toMatch(/^half of it\n\[subagent session explore_\w{8}; (?:failed|cancelled); 1 line/);
        expect(metadata).toMatchObject({ session_id: child.sessionId, handle: child.handle });
      }
      const again = host.call(root.sessionId, 'delegate_subagent', {
        args: task({ agent_type: 'explore', resume_session_id: child.handle }),
      });
      await running(host, child);
      await host.end(child.sessionId, 'all of it');
      expect(reports(await again)).toBe('all of it');
    },
  );

  it('a parent that is stopped leaves no child at work, of three in the foreground and two in the background [DLG-10] [field F3]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    for (const background of [false, false, false, true, true]) {
      const { child } = await delegate(host, root, { background });
      await running(host, child);
      if (background) await running(host, (await delegate(host, child)).child);
    }
    await host.cancelRun(root.sessionId);
    await delegation.settled(root.rootId);
    const statuses = (await host.tree(root.rootId)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 8 }, () => 'cancelled'));
  });

  it.each([
    { limit: 3, depth: 3 },
    { limit: 1, depth: 3 },
  ])(
    'five parents with two children each come to their end at a limit of $limit [DLG-9] [field F5]',
    async ({ limit, depth }) => {
      const loop: MemoryLoop = async ({ facts, input, call }) => {
        // Woken by a result.
        if (input !== 'go' && input !== 'p') return 'done';
        if (facts.depth === 0) {
          for (let count = 0; count < 5; count += 1)
            await call('delegate_subagent', task({ background: true }));
        } else if (facts.depth < depth) {
          await Promise.all(
            [1, 2].map(() => call('delegate_subagent', task({ background: facts.depth === 2 }))),
          );
        }
        return 'done';
      };
      const { host, delegation } = world({ loop, settings: { maxConcurrency: limit, maxDepth: depth } });
      const root = await rootAtWork(host);
      await delegation.settled(root.rootId);
      const ended = await until(async () => {
        const sessions = await host.tree(root.rootId);
        return sessions.every(({ status }) => status === 'completed') && delegation.quiet(root.rootId)
          ? sessions
          : undefined;
      });
      expect(ended).toHaveLength(1 + 5 + 10 + 20);
      expect(told(host, root.sessionId)).toHaveLength(5);
    },
  );

  it('a task that is handed on and on comes to its end at the depth limit [DLG-9] [field F7]', async () => {
    const refusals: unknown[] = [];
    const loop: MemoryLoop = async ({ facts, call }) => {
      const { error } = await call('delegate_subagent', task());
      if (error !== null) refusals.push([facts.depth, error.code]);
      return 'done';
    };
    const { host, delegation, ports } = world({ loop, settings: { maxDepth: 2 } });
    const root = await host.addRoot('lead');
    await (
      await host.prompt(root.sessionId, 'go')
    ).done;
    expect((await host.tree(root.rootId)).map(({ depth }) => depth)).toEqual([0, 1, 2]);
    expect(refusals).toEqual([[2, 'not_published']]);
    // A tool of a run that began higher up, called down here all the same.
    const tools = await delegation.tools({ id: root.sessionId, cwd: '/', agent: 'lead' });
    const [, , last] = await ports.host.tree(root.rootId);
    const session = { id: last!.sessionId, cwd: '/', agent: 'build' };
    const forced = tools[0]!.prepare(
      task(),
      { callId: 'c', session, turn: {}, model: null },
      new AbortController().signal,
    );
    await expect(forced).rejects.toMatchObject({
      code: 'not_supported',
      message: expect.stringContaining('do the work yourself'),
    });
  });

  it('a result for a parent that has gone idle wakes it, and is the first thing it reads, once [DLG-3] [field F8]', async () => {
    const heard: string[] = [];
    const gate = Promise.withResolvers<void>();
    const loop: MemoryLoop = async ({ facts, input, call }) => {
      if (facts.depth > 0) {
        await gate.promise;
        return 'found it';
      }
      heard.push(input);
      if (input === 'go') await call('delegate_subagent', task({ background: true }));
      return 'ok';
    };
    const { host, delegation } = world({ loop });
    const root = await host.addRoot('lead');
    await (
      await host.prompt(root.sessionId, 'go')
    ).done;
    gate.resolve();
    await delegation.settled(root.rootId);
    await flush();
    expect(heard).toEqual([
      'go',
      expect.stringMatching(/^found it\n\[subagent session build_\w{8}; completed/),
    ]);
  });

  it('results that were read do not come again, however often a session is opened [DLG-11] [field F10]', async () => {
    const ids = countingIds();
    const heard: string[] = [];
    const loop: MemoryLoop = async ({ facts, input, call }) => {
      if (facts.depth > 0) return 'found it';
      heard.push(input);
      if (input !== 'go') return 'ok';
      for (let count = 0; count < 5; count += 1) await call('delegate_subagent', task({ background: true }));
      return 'ok';
    };
    let current = world({ ids, loop });
    const root = await current.host.addRoot('lead');
    await (
      await current.host.prompt(root.sessionId, 'go')
    ).done;
    await current.delegation.settled(root.rootId);
    await flush();
    expect(heard.join('').match(/found it/g)).toHaveLength(5);
    for (let opening = 0; opening < 2; opening += 1) {
      current = world({ ids, loop, disk: current.host.crash(() => 100) });
      await current.delegation.treeOpened(root.sessionId);
      await (
        await current.host.prompt(root.sessionId, 'again')
      ).done;
    }
    expect(heard.join('').match(/found it/g)).toHaveLength(5);
    expect(told(current.host, root.sessionId)).toHaveLength(5);
  });

  it('ids have one name in results and parameters, and the descriptions show their form [DLG-6] [field F14]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const { call, child } = await delegate(host, root, { background: true });
    expect((await call).metadata).toMatchObject({ session_id: child.sessionId, handle: child.handle });
    const tools = await delegation.tools({ id: root.sessionId, cwd: '/', agent: 'lead' });
    const ids = tools.map(({ spec }) => {
      const properties = spec.parameters['properties'] as Record<string, { readonly description: string }>;
      const names = Object.keys(properties).filter((name) => name.endsWith('_id'));
      return names.map((name) => [name, /explore_1a2b3c4d/.test(properties[name]?.description ?? '')]);
    });
    expect(ids).toEqual([[['resume_session_id', true]], [['session_id', true]], [['session_id', true]]]);
  });

  it('children under one label end each by itself [DLG-11] [field F15]', async () => {
    const { host, delegation } = world();
    const root = await rootAtWork(host);
    const same = { description: 'reviewer', prompt: 'reviewer', background: true };
    const [one, two] = [await delegate(host, root, same), await delegate(host, root, same)];
    for (const { child } of [two, one]) await running(host, child);
    await host.end(two.child.sessionId, 'reviewer: completed');
    await flush();
    expect((await host.find(one.child.sessionId))?.status).toBe('running');
    await host.end(one.child.sessionId, `[subagent session ${two.child.handle}; failed; 0 lines]`);
    await delegation.settled(root.rootId);
    expect(host.ledger(root.sessionId).finished.map(({ end }) => end?.status)).toEqual([
      'completed',
      'completed',
    ]);
  });

  it.each([false, true])(
    'a child that was cancelled and resumed reports to its own parent, once, with a restart in between: %s [DLG-13] [DLG-11] [field F16]',
    async (restart) => {
      const ids = countingIds();
      let { host, delegation } = world({ ids });
      const root = await rootAtWork(host);
      const { child } = await delegate(host, root, { background: true, prompt: 'same' });
      await running(host, child);
      await host.call(root.sessionId, 'cancel_subagent', { args: { session_id: child.handle } });
      if (restart) {
        ({ host, delegation } = world({ ids, disk: host.crash(() => 100) }));
        await delegation.treeOpened(root.sessionId);
        await host.prompt(root.sessionId, 'go on');
      }
      const args = task({ agent_type: 'explore', background: true, prompt: 'same' });
      await host.call(root.sessionId, 'delegate_subagent', {
        args: { ...args, resume_session_id: child.handle },
      });
      const unrelated = await rootAtWork(host);
      const stranger = await delegate(host, unrelated, { prompt: 'same' });
      await running(host, stranger.child);
      await running(host, child);
      await host.end(child.sessionId, 'all of it');
      await host.end(stranger.child.sessionId, 'something else');
      await delegation.settled(root.rootId);
      expect(told(host, root.sessionId)).toEqual([
        `all of it\n[subagent session ${child.handle}; completed; 1 line; full output shown]`,
      ]);
      expect(host.woken).toEqual([root.sessionId]);
      expect(story(host, unrelated.sessionId)).toEqual(['reserved', 'started', 'finished']);
    },
  );
});
