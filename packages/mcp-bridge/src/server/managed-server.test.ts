import { describe, expect, it } from '@jest/globals';
import { flush, manualClock } from '@agentd/contract/testing';
import { mcpError } from '../errors.ts';
import { fakeConnector, type OpenCall } from '../test/fake-connector.ts';
import { memoryToolLists } from '../testing/memory-tool-lists.ts';
import { ManagedServer } from './managed-server.ts';

const NEVER = new AbortController().signal;
const quiet = { progress: () => undefined };
const target = { kind: 'stdio', command: 'x', args: [], env: {}, cwd: '/' } as const;

function setup(changes: { readonly lazy?: boolean; readonly cached?: readonly unknown[] } = {}) {
  const clock = manualClock();
  const connector = fakeConnector();
  const lists = memoryToolLists(new Map(changes.cached === undefined ? [] : [['s', changes.cached]]));
  let changed = 0;
  const settings = { target, enabled: true, lazy: changes.lazy ?? false, timeoutMs: 1000 };
  const server = new ManagedServer(
    { clock, connector, lists },
    { name: 's', settings },
    () => (changed += 1),
  );
  const call = (tool = 'work', signal = NEVER) => {
    const result = server.call({ tool, args: {} }, quiet, signal);
    result.catch(() => undefined);
    return result;
  };
  const open = async (connection = 0, index = 0): Promise<OpenCall> => {
    await flush();
    const found = connector.connections[connection]?.calls[index];
    if (found === undefined) throw new Error(`no call ${index} on connection ${connection}`);
    return found;
  };
  return { clock, connector, lists, server, call, open, changes: () => changed };
}

describe('a server over all its connections', () => {
  it('V2 gets one call at a time, in the order they came; who gives up leaves the queue [MCP-2] [SCH-6]', async () => {
    const { server, call, open, connector } = setup();
    await server.prepare();
    const impatient = new AbortController();
    const results = [call('one'), call('two', impatient.signal), call('three')];
    (await open()).answer.resolve({ n: 1 });
    impatient.abort(new Error('enough'));
    await expect(results[1]).rejects.toThrow('enough');
    (await open(0, 1)).answer.resolve({ n: 3 });
    expect(await results[2]).toEqual({ n: 3 });
    expect(connector.connections[0]?.calls.map(({ tool }) => tool)).toEqual(['one', 'three']);
  });

  it('V4 ends a call at its limit of time, which progress renews [MCP-4] [field H14]', async () => {
    const { server, call, open, clock } = setup();
    await server.prepare();
    const result = call();
    const { hooks, answer } = await open();
    for (let step = 1; step <= 6; step += 1) {
      clock.advance(900);
      hooks.progress({ progress: step });
    }
    answer.resolve({ done: true });
    expect(await result).toEqual({ done: true });

    const silent = call();
    const { signal } = await open(0, 1);
    clock.advance(1000);
    await expect(silent).rejects.toMatchObject({
      code: 'MCP_TIMEOUT',
      message: 'the call took more than 1000 ms',
    });
    expect(signal.aborted).toBe(true);
  });

  it('V4 tells the server of a call that is cancelled, and ends it at once [MCP-4]', async () => {
    const { server, call, open } = setup();
    await server.prepare();
    const user = new AbortController();
    const result = call('work', user.signal);
    const { signal } = await open();
    user.abort(new Error('by the user'));
    await expect(result).rejects.toThrow('by the user');
    expect(signal.aborted).toBe(true);
  });

  it('is asked for a sign of life after a timeout, and replaced where it gives none [field H22]', async () => {
    const { server, call, open, clock, connector } = setup();
    await server.prepare();
    const first = call();
    await open();
    clock.advance(1000);
    await expect(first).rejects.toMatchObject({ code: 'MCP_TIMEOUT' });
    const second = call();
    (await open(0, 1)).answer.resolve({ alive: true });
    expect(await second).toEqual({ alive: true });

    const third = call();
    await open(0, 2);
    clock.advance(1000);
    await expect(third).rejects.toMatchObject({ code: 'MCP_TIMEOUT' });
    connector.pong = false;
    const fourth = call();
    await flush();
    clock.advance(1000);
    (await open(1, 0)).answer.resolve({ fresh: true });
    expect(await fourth).toEqual({ fresh: true });
    expect(connector.connections[0]?.closed()).toBe(true);
  });

  it('V3 opens a lost session again, lists again, and makes the call once more; twice lost is an error [MCP-4] [field H16]', async () => {
    const { server, call, open, connector } = setup();
    await server.prepare();
    const lost = mcpError('MCP_SESSION_EXPIRED', 'gone');
    const result = call();
    (await open()).answer.reject(lost);
    (await open(1)).answer.resolve({ again: true });
    expect(await result).toEqual({ again: true });
    expect([connector.connections.length, connector.listings]).toEqual([2, 2]);

    const unlucky = call();
    (await open(1, 1)).answer.reject(lost);
    (await open(2)).answer.reject(lost);
    await expect(unlucky).rejects.toMatchObject({ code: 'MCP_SESSION_EXPIRED' });
    expect(connector.connections.length).toBe(3);
  });

  it('V3 never repeats a call that may have run; the next call starts it again, later and later [MCP-4] [field H2]', async () => {
    const { server, call, open, connector, clock } = setup();
    await server.prepare();
    // A first death is forgiven at once; 10 s are the longest wait.
    for (const [deaths, waitMs] of [0, 0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000].entries()) {
      const result = call();
      await flush();
      if (waitMs > 0) {
        clock.advance(waitMs - 1);
        await flush();
        expect(connector.connections.length).toBe(deaths);
        clock.advance(1);
      }
      const { answer } = await open(deaths);
      connector.connections[deaths]?.hooks.closed('exited with code 7');
      answer.reject(mcpError('MCP_CLOSED', 'exited with code 7'));
      await expect(result).rejects.toMatchObject({ code: 'MCP_CLOSED' });
      expect([server.state, server.tools]).toEqual(['failed', [{ name: 'work' }]]);
    }
    const last = call();
    await flush();
    clock.advance(10_000);
    (await open(9)).answer.resolve({ well: true });
    expect(await last).toEqual({ well: true });
    expect([server.state, connector.connections.map(({ calls }) => calls.length)]).toEqual([
      'connected',
      Array.from({ length: 10 }, () => 1),
    ]);
  });

  it('is lazy from the list of its last connection, and connects at first use [MCP-1]', async () => {
    const { server, call, open, connector } = setup({ lazy: true, cached: [{ name: 'known' }] });
    await server.prepare();
    expect([server.state, server.tools, connector.connections.length]).toEqual([
      'lazy',
      [{ name: 'known' }],
      0,
    ]);
    const result = call();
    (await open()).answer.resolve({ ok: true });
    expect(await result).toEqual({ ok: true });
    expect([server.state, server.tools]).toEqual(['connected', [{ name: 'work' }]]);
  });

  it('is eager once without such a list, and leaves one behind [MCP-1]', async () => {
    const { server, connector, lists } = setup({ lazy: true });
    await server.prepare();
    await flush();
    expect([server.state, connector.connections.length]).toEqual(['connected', 1]);
    expect(lists.kept.get('s')).toEqual([{ name: 'work' }]);
  });

  it('reads a changed list once for many notices, and less and less for empty ones [MCP-4] [field H13]', async () => {
    const { server, connector, clock, changes } = setup();
    await server.prepare();
    const [{ hooks }] = connector.connections as [(typeof connector.connections)[number]];
    const before = changes();
    connector.tools = [{ name: 'work' }, { name: 'more' }];
    for (let notice = 0; notice < 50; notice += 1) hooks.toolsChanged();
    expect(connector.listings).toBe(1);
    clock.advance(250);
    await flush();
    expect([connector.listings, server.tools?.length]).toEqual([2, 2]);
    expect(changes()).toBeGreaterThan(before);
    // A server that cries wolf for an hour, every 100 ms.
    for (let notice = 0; notice < 36_000; notice += 1) {
      hooks.toolsChanged();
      clock.advance(100);
      if (notice % 100 === 0) await flush();
    }
    expect(connector.listings).toBeLessThan(200);
    hooks.toolsChanged();
    const listings = connector.listings;
    await server.refresh();
    expect(connector.listings).toBe(listings + 1);
  });

  it('V5 leaves nothing behind, whatever it was doing [MCP-7]', async () => {
    const { server, call, open, connector } = setup();
    await server.prepare();
    const result = call();
    await open();
    const closing = server.close();
    connector.connections[0]?.calls[0]?.answer.reject(mcpError('MCP_CLOSED', 'closed'));
    await closing;
    await expect(result).rejects.toBeDefined();
    expect(connector.connections.map(({ closed }) => closed())).toEqual([true]);
    await expect(call()).rejects.toThrow('the bridge is closed');
  });
});
