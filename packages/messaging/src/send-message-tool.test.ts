import { describe, expect, it } from '@jest/globals';
import { messageOf } from '@agentd/contract';
import { countingIds, flush } from '@agentd/contract/testing';
import { createSendMessageTool } from './send-message-tool.ts';
import { sending } from './test/sending.ts';
import { memoryTree } from './testing/memory-tree.ts';
import type { MessagingSettings } from './settings.ts';

const NOBODY = '00000000-0000-4000-8000-00000000dead';

function setup(changes: Partial<MessagingSettings> = {}) {
  const tree = memoryTree(countingIds());
  const root = tree.add({ agent: 'lead', description: 'Lead the work', status: 'running' });
  const a = tree.add({ agent: 'explore', parent: root, description: 'Find it', status: 'completed' });
  const b = tree.add({ agent: 'build', parent: root, description: 'Build it', status: 'running' });
  const deep = tree.add({ agent: 'test', parent: a });
  const stranger = tree.add({ agent: 'lead' });
  return { tree, root, a, b, deep, stranger, ...sending(tree, changes) };
}

const refusal = (reason: string) => ({ code: `send_message:${reason}` });

describe('send_message to a model', () => {
  it('is strict, parallel, and asks for the action message [MSG-1] [MSG-4]', () => {
    const { tree } = setup();
    const { spec } = createSendMessageTool(tree.ports);
    expect(spec).toMatchObject({ name: 'send_message', action: 'message', concurrency: 'parallel' });
    expect(spec.parameters).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['to', 'body'],
      properties: {
        to: { type: 'string' },
        body: { type: 'string' },
        mode: { type: 'string', enum: ['steer', 'queue'], default: 'steer' },
      },
    });
    expect(Object.keys(spec.parameters['properties'] as object)).toEqual(['to', 'body', 'mode']);
  });

  it.each([
    ['nothing', {}, 'to is missing; body is missing'],
    ['no object', null, 'no object'],
    ['a list', [], 'no object'],
    ['no body', { to: 'x' }, 'body is missing'],
    ['a number as to', { to: 1, body: 'x' }, 'to is no text'],
    ['null as body', { to: 'x', body: null }, 'body is no text'],
    ['an unknown mode', { to: 'x', body: 'x', mode: 'now' }, 'mode is neither steer nor queue'],
    ['null as mode', { to: 'x', body: 'x', mode: null }, 'mode is neither steer nor queue'],
    [
      'the old name',
      { recipient_session_id: 'x', body: 'x' },
      'to is missing; unknown: "recipient_session_id"',
    ],
    [
      'the old name as well',
      { to: 'x', recipient_session_id: 'x', body: 'x' },
      'unknown: "recipient_session_id"',
    ],
  ])('refuses %s in its own words [MSG-1] [MSG-5]', async (_what, args, text) => {
    const { root, prepare } = setup();
    const error: unknown = await prepare(root, args).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(refusal('invalid_arguments'));
    expect(messageOf(error)).toContain(text);
    expect(messageOf(error)).toContain('It takes to (a handle or a session UUID)');
    expect(messageOf(error)).not.toMatch(/expected|zod|invalid input/i);
  });
});

describe('whom a send names', () => {
  it('resolves a handle of the own tree and a UUID alike, with the relation from stored origins [MSG-1] [MSG-4]', async () => {
    const { root, a, b, deep, prepare } = setup();
    const labels = [
      await prepare(a, { to: root.handle, body: 'x' }),
      await prepare(root, { to: a.sessionId, body: 'x' }),
      await prepare(a, { to: b.handle, body: 'x' }),
      await prepare(deep, { to: root.sessionId, body: 'x' }),
    ].map(({ permission }) => permission);
    expect(labels).toEqual(
      ['parent', 'child', 'sibling', '*'].map((label) => ({ action: 'message', label })),
    );
  });

  it('binds an approval to the recipient, the body and the mode [MSG-4]', async () => {
    const { root, a, prepare } = setup();
    const { operation } = await prepare(root, { to: a.handle, body: 'x', mode: 'queue' });
    expect(operation).toEqual({ tool: 'send_message', to: a.sessionId, body: 'x', mode: 'queue' });
  });

  it.each([
    ['nobody', () => NOBODY, 'unknown_session'],
    [
      'a session of another tree',
      ({ stranger }: ReturnType<typeof setup>) => stranger.sessionId,
      'not_tree_peer',
    ],
    ['oneself', ({ root }: ReturnType<typeof setup>) => root.sessionId, 'self_send'],
  ])('refuses the UUID of %s before permission [MSG-5]', async (_whom, idOf, reason) => {
    const all = setup();
    await expect(all.prepare(all.root, { to: idOf(all), body: 'x' })).rejects.toMatchObject(refusal(reason));
  });

  it.each([
    ['a misspelling', (handle: string) => handle.replace('explore', 'explroe')],
    ['the wrong case', (handle: string) => handle.toUpperCase()],
    ['a part', (handle: string) => handle.slice(0, -1)],
    ['blanks around', (handle: string) => ` ${handle}`],
    ['nothing', () => ''],
    ['an agent id', () => 'explore'],
  ])('answers %s with everybody who is there [MSG-1] [field G5]', async (_what, spoil) => {
    const { root, a, b, deep, prepare } = setup();
    const to = spoil(a.handle);
    await expect(prepare(root, { to, body: 'x' })).rejects.toMatchObject({
      code: 'unknown_subagent',
      message: [
        `unknown subagent reference ${JSON.stringify(to)}; live subagents in your tree:`,
        `${b.handle} — Build it — running (session_id ${b.sessionId})`,
        `${a.handle} — Find it — completed (session_id ${a.sessionId})`,
        `${deep.handle} — test — idle (session_id ${deep.sessionId})`,
      ].join('\n'),
    });
  });

  it('knows neither the own handle, nor one of another tree, nor a UUID in capitals [MSG-1]', async () => {
    const { root, a, stranger, prepare } = setup();
    for (const to of [root.handle, stranger.handle, a.sessionId.toUpperCase().replace('0', 'A')])
      await expect(prepare(root, { to, body: 'x' })).rejects.toMatchObject({ code: 'unknown_subagent' });
  });

  it('does not deliver to a session that was reverted between approval and execution [MSG-5]', async () => {
    const { tree, root, a, prepare } = setup();
    const prepared = await prepare(root, { to: a.handle, body: 'x' });
    tree.remove(a.sessionId);
    const execution = { callId: 'c', report: async () => undefined, stdin: null };
    await expect(prepared.execute(execution, new AbortController().signal)).rejects.toMatchObject(
      refusal('unknown_session'),
    );
    expect(a.log.events).toEqual([]);
  });
});

describe('the order of the checks', () => {
  it('is the order of the table up to permission [MSG-5]', async () => {
    const off = setup({ enabled: false });
    await expect(off.prepare(off.root, {})).rejects.toMatchObject(refusal('disabled'));
    const { root, prepare } = setup({ maxBodyBytes: 3 });
    await expect(prepare(root, { to: NOBODY, body: 'long', x: 1 })).rejects.toMatchObject(
      refusal('invalid_arguments'),
    );
    await expect(prepare(root, { to: NOBODY, body: 'long' })).rejects.toMatchObject(refusal('invalid_body'));
    await expect(prepare(root, { to: 'nobody', body: ' \t' })).rejects.toMatchObject(refusal('invalid_body'));
    await expect(prepare(root, { to: NOBODY, body: 'ok' })).rejects.toMatchObject(refusal('unknown_session'));
  });

  it('puts a full inbox first, a shutdown last, and admits nothing [MSG-5]', async () => {
    const { tree, root, a, prepare, send } = setup({ maxPendingPerSession: 1 });
    const execution = { callId: 'c', report: async () => undefined, stdin: null };
    const prepared = await prepare(root, { to: a.handle, body: 'x' });
    await send(root, { to: a.handle, body: 'first' });
    await expect(send(root, { to: a.handle, body: 'x' })).rejects.toMatchObject(refusal('inbox_full'));
    const before = a.log.events.length;
    tree.stop();
    await expect(prepared.execute(execution, new AbortController().signal)).rejects.toMatchObject(
      refusal('engine_shutdown'),
    );
    expect(a.log.events).toHaveLength(before);
  });

  it('refuses what a shutdown overtakes while the inbox is held already [MSG-5]', async () => {
    const { tree, root, a } = setup();
    const ports = {
      ...tree.ports,
      inboxes: {
        use: <Value>(id: string, work: Parameters<typeof tree.ports.inboxes.use<Value>>[1]) =>
          tree.ports.inboxes.use<Value>(id, (held) => {
            if (id === a.sessionId) tree.stop();
            return work(held);
          }),
      },
    };
    const { send } = sending({ ...tree, ports });
    await expect(send(root, { to: a.handle, body: 'x' })).rejects.toMatchObject(refusal('engine_shutdown'));
    expect(a.log.events).toEqual([]);
  });
});

describe('an accepted message', () => {
  it('is on disk before the sender is told, and only then wakes [MSG-2] [MSG-3]', async () => {
    const { tree, root, a, send } = setup();
    const disk = a.log.holdSyncs();
    let told = false;
    const sent = send(root, { to: a.handle, body: 'x' }).finally(() => (told = true));
    await flush();
    expect([told, a.log.events.length, a.log.synced().length, tree.woken.length]).toEqual([false, 1, 0, 0]);
    disk.release();
    await sent;
    expect(a.log.synced()).toHaveLength(1);
    expect(tree.woken).toEqual([a.sessionId]);
  });

  it('says its id, its mode and how the recipient is, in text and metadata [MSG-2]', async () => {
    const { root, a, send } = setup();
    const { output, metadata } = await send(root, { to: a.handle, body: 'x', mode: 'queue' });
    const id = a.inbox.claim({ kind: 'run_start', runId: 'r', canReply: () => false })[0]?.messageId;
    expect(metadata).toEqual({ message_id: id, mode: 'queue', recipient_state: 'queued' });
    expect(output).toEqual({
      kind: 'single',
      text: `Message to ${a.handle} accepted: message_id ${id}, mode queue, recipient_state queued.`,
    });
  });

  it('finds the recipient as its log tells: queued, running, finished [MSG-2] [field G5]', async () => {
    const { root, a, send } = setup();
    const states: unknown[] = [];
    const look = async () =>
      void states.push((await send(root, { to: a.handle, body: 'x' })).metadata?.['recipient_state']);
    await look();
    a.record({ type: 'run_started' }, 'r');
    await look();
    a.record({ type: 'run_completed' }, 'r');
    await look();
    expect(states).toEqual(['queued', 'running', 'waking_finished']);
  });

  it('is known again by session, run and call: one message, one answer [MSG-6] [field G13]', async () => {
    const { root, a, send } = setup({ maxPendingPerSession: 1, maxInflightPerPair: 1 });
    root.record({ type: 'run_started' }, 'run-1');
    const first = await send(root, { to: a.handle, body: 'x' }, 'c1');
    a.record({ type: 'run_started' }, 'run-of-a');
    expect(await send(root, { to: a.handle, body: 'x' }, 'c1')).toEqual(first);
    expect(a.log.events.filter(({ payload }) => payload.type === 'message_accepted')).toHaveLength(1);
    expect(a.log.events[0]?.payload['idempotency_key']).toBe(`agent-message:${root.sessionId}:run-1:c1`);
    await expect(send(root, { to: a.handle, body: 'x' }, 'c2')).rejects.toMatchObject(refusal('inbox_full'));
  });

  it('is one also when the retry comes before the disk has answered [MSG-6] [field G13]', async () => {
    const { root, a, send } = setup();
    const disk = a.log.holdSyncs();
    const both = Promise.all([1, 2].map(() => send(root, { to: a.handle, body: 'x' }, 'c1')));
    await flush();
    disk.release();
    const [first, second] = await both;
    expect(second).toEqual(first);
    expect(a.log.events).toHaveLength(1);
  });

  it('is still known after the recipient crashed and came back [MSG-2] [MSG-6]', async () => {
    const { tree, root, a, send } = setup();
    const first = await send(root, { to: a.handle, body: 'x' }, 'c1');
    const restarted = tree.restart(a);
    expect(await send(root, { to: a.handle, body: 'x' }, 'c1')).toEqual(first);
    expect(restarted.inbox.waiting).toBe(1);
  });

  it('may have arrived or not where the disk fails, and the sender is told so [MSG-2]', async () => {
    const { tree, root, a, send } = setup();
    a.log.failSyncs();
    await expect(send(root, { to: a.handle, body: 'x' })).rejects.toMatchObject({
      code: 'execution_failed',
      message:
        'the log of the recipient could not be written, so it is not known whether the message will arrive: the disk is full',
    });
    expect(tree.woken).toEqual([]);
  });

  it('is not sent by a call that was cancelled before [MSG-2]', async () => {
    const { root, a, prepare } = setup();
    const prepared = await prepare(root, { to: a.handle, body: 'x' });
    const execution = { callId: 'c', report: async () => undefined, stdin: null };
    await expect(prepared.execute(execution, AbortSignal.abort())).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(a.log.events).toEqual([]);
  });
});

describe('loops of messages', () => {
  it('gives the last place to one of two sends at once [MSG-5] [MSG-7]', async () => {
    const { root, a, send } = setup({ maxInflightPerPair: 2 });
    await send(root, { to: a.handle, body: 'x' });
    const sends = await Promise.allSettled([1, 2, 3].map(() => send(root, { to: a.handle, body: 'x' })));
    expect(sends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(a.inbox.unacknowledged()).toBe(2);
  });

  it('keeps calls of one turn to one recipient apart, so that they arrive in call order [MSG-10]', async () => {
    const { root, a, b, prepare } = setup();
    const keyOf = async (to: string) => (await prepare(root, { to, body: 'x' })).serializationKey;
    expect(await keyOf(a.handle)).toBe(await keyOf(a.sessionId));
    expect(await keyOf(a.handle)).not.toBe(await keyOf(b.handle));
  });

  it('counts hops along what a run has read, and starts anew with a fresh run [MSG-7]', async () => {
    const { root, a, b, send } = setup({ maxHops: 1 });
    const hop = (session: typeof a) =>
      session.log.events.findLast(({ payload }) => 'hop' in payload)?.payload['hop'];
    const read = (session: typeof a, runId: string) => {
      session.record({ type: 'run_started' }, runId);
      session.inbox.claim({ kind: 'run_start', runId, canReply: () => true });
    };
    await send(root, { to: a.handle, body: 'x' });
    expect(hop(a)).toBe(0);
    read(a, 'run-a');
    await send(a, { to: b.handle, body: 'x' });
    expect(hop(b)).toBe(1);
    read(b, 'run-b');
    await expect(send(b, { to: root.handle, body: 'x' })).rejects.toMatchObject(refusal('max_hops_exceeded'));
    expect(root.log.events).toEqual([]);
    b.record({ type: 'run_completed' }, 'run-b');
    b.record({ type: 'run_started' }, 'run-b2');
    await send(b, { to: root.handle, body: 'x' });
    expect(hop(root)).toBe(0);
    expect(root.inbox.claim({ kind: 'run_start', runId: 'r', canReply: () => true })[0]?.text).not.toMatch(
      /hop/,
    );
  });
});
