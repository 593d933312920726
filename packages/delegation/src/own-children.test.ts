import { describe, expect, it } from '@jest/globals';
import { flush } from '@agentd/contract/testing';
import { delegate, rootAtWork, running, world } from './test/world.ts';

async function family() {
  const { host } = world({ settings: { maxConcurrency: 1 } });
  const root = await rootAtWork(host);
  const first = await delegate(host, root, { background: true, description: 'First' });
  const second = await delegate(host, root, { background: true, description: 'Second\ntask' });
  await running(host, first.child);
  const nested = await delegate(host, first.child, { background: true });
  const stranger = await rootAtWork(host);
  const other = await delegate(host, stranger, { background: true });
  await flush();
  const result = (session_id: unknown) =>
    host.call(root.sessionId, 'get_subagent_result', { args: { session_id } });
  return {
    host,
    root,
    first: first.child,
    second: second.child,
    nested: nested.child,
    other: other.child,
    result,
  };
}

describe('which child is meant', () => {
  it('takes a handle or a session UUID [DLG-4]', async () => {
    const { first, result } = await family();
    for (const reference of [first.handle, first.sessionId])
      expect((await result(reference)).metadata).toMatchObject({
        session_id: first.sessionId,
        handle: first.handle,
      });
  });

  it('knows neither parts, nor other spellings, nor grandchildren, nor other trees, nor itself, and lists who there is [DLG-4]', async () => {
    const { root, first, second, nested, other, result } = await family();
    const references = [
      first.handle.slice(0, -1),
      first.handle.toUpperCase(),
      ` ${first.handle}`,
      `{${first.sessionId}}`,
      first.sessionId.replace(/0/, 'f'),
      nested.handle,
      nested.sessionId,
      other.handle,
      other.sessionId,
      root.handle,
      root.sessionId,
      '',
    ];
    const list = [
      `${first.handle} — First — running (session_id ${first.sessionId})`,
      `${second.handle} — Second task — queued (session_id ${second.sessionId})`,
    ].toSorted();
    for (const reference of references)
      expect((await result(reference)).error).toEqual({
        code: 'unknown_subagent',
        message: `unknown subagent reference ${JSON.stringify(reference)}; live subagents in your tree:\n${list.join('\n')}`,
      });
  });

  it('lists ended children, and none that were reverted [DLG-4]', async () => {
    const { host, first, second, result } = await family();
    await host.end(first.sessionId, 'done');
    await flush();
    host.remove(second.sessionId);
    const { error } = await result('nobody');
    expect(error?.message).toContain(`${first.handle} — First — completed`);
    expect(error?.message).not.toContain(second.handle);
  });
});
