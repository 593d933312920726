import { describe, expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { systemClock, type Clock } from '@agentd/contract';
import {
  bridgeBench,
  linesOf,
  oddServer,
  programServer,
  scratchFolder,
  textOf,
  until,
} from './test/bridge-bench.ts';

// Real processes, on a machine that may have others.
jest.setTimeout(120_000);

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const problemsOf = (bench: ReturnType<typeof bridgeBench>) =>
  Object.fromEntries(bench.bridge.statuses().map(({ name, state, problem }) => [name, [state, problem]]));

describe('faults that users met with servers', () => {
  it('fails each server that does not come up, and has the healthy one at once [field H1] [MCP-1] [MCP-4]', async () => {
    await using folder = await scratchFolder();
    const journal = join(folder.path, 'journal');
    // The limit of the silent one passes once it was asked for its tools, however long it took to start.
    const silentMs = 2000;
    const isAsked = async () => (await linesOf(journal)).some((line) => line.startsWith('tools/list'));
    const after: Clock['after'] = (ms, run) => {
      if (ms !== silentMs) return systemClock.after(ms, run);
      let isStopped = false;
      void until(async () => isStopped || (await isAsked())).then(() => (isStopped ? undefined : run()));
      return () => (isStopped = true);
    };
    await using bench = bridgeBench({
      ports: { clock: { now: systemClock.now, after } },
      servers: {
        sleeper: programServer(['1000'], { command: 'sleep', timeoutMs: 300 }),
        dead: oddServer({ exitAt: 'start', stderr: 'no licence found' }),
        missing: programServer([], { command: 'no-such-command-anywhere' }),
        silent: oddServer({ silentAt: 'tools/list', journal }, { timeoutMs: silentMs }),
        healthy: oddServer({ tools: [tool('hello')] }),
      },
    });
    expect(await bench.names()).toContain('healthy_hello');
    expect(problemsOf(bench)).toEqual({
      sleeper: ['failed', 'connecting took more than 300 ms'],
      dead: ['failed', 'exited with code 3; its last words: no licence found'],
      missing: ['failed', 'command not found: no-such-command-anywhere'],
      silent: ['failed', expect.stringMatching(/^(?:connecting|listing its tools) took more than 2000 ms/)],
      healthy: ['connected', null],
    });
    expect(textOf(await bench.call('healthy_hello', {}))).toContain('hello');
  });

  it('does not wait for a slow server longer than startup_wait_ms; it joins later [field H1] [MCP-1]', async () => {
    await using bench = bridgeBench({
      servers: { slow: oddServer({ tools: [tool('hello')] }) },
      settings: { startupWaitMs: 1 },
    });
    expect(await bench.names()).toEqual([]);
    expect(problemsOf(bench)).toEqual({ slow: ['connecting', null] });
    await bench.bridge.settled();
    expect((await bench.bridge.refresh()).map(({ spec }) => spec.name)).toContain('slow_hello');
  });

  it('ends a call with the exit of its server, and starts it again at the next one [field H2] [MCP-4]', async () => {
    await using folder = await scratchFolder();
    const journal = join(folder.path, 'journal');
    const stderr = 'out of memory';
    await using bench = bridgeBench({
      servers: { s: oddServer({ tools: [tool('die'), tool('x')], journal, stderr }) },
    });
    await bench.tools();
    await expect(bench.call('s_die', {})).rejects.toMatchObject({
      code: 'mcp_error',
      message: expect.stringMatching(/exited with code 7.*its last words: out of memory/),
    });
    expect(problemsOf(bench)['s']?.[0]).toBe('failed');
    const names = (await bench.bridge.refresh()).map(({ spec }) => spec.name);
    expect(names).toEqual(['s_die', 's_x', 'mcp_list_resources', 'mcp_read_resource']);
    expect(textOf(await bench.call('s_x', { n: 1 }))).toBe('{"tool":"x","arguments":{"n":1}}');
    const lines = await linesOf(journal);
    expect(lines.filter((line) => line === 'start')).toHaveLength(2);
    expect(lines.filter((line) => line.includes('"die"'))).toHaveLength(1);
  });

  it('logs noise on stdout and takes every message around it [field H4] [MCP-7]', async () => {
    const noise = 'Server v1 started\n\n{"not":"rpc"}\n{"jsonrpc":"2.0","method":\n"torn"}\n[1]\nnull\n';
    await using bench = bridgeBench({ servers: { s: oddServer({ noise, tools: [tool('x')] }) } });
    expect(textOf(await bench.call('s_x', {}))).toContain('"x"');
    const [status] = bench.bridge.statuses();
    expect(status?.log).toEqual(
      expect.arrayContaining(['stdout: Server v1 started', 'stdout: {"not":"rpc"}', 'stdout: null']),
    );
  });

  it('gives forbidden names others, and calls by the original [field H6] [MCP-3]', async () => {
    const long = 'l'.repeat(80);
    const raw = ['get.data', 'a/b', 'näme', 'with space', long];
    await using bench = bridgeBench({
      servers: { 'my.server': oddServer({ tools: raw.map((name) => tool(name)) }) },
    });
    const names = (await bench.names()).filter((name) => name.startsWith('my_server'));
    expect(names.slice(0, 4)).toEqual([
      'my_server_get_data',
      'my_server_a_b',
      'my_server_n_me',
      'my_server_with_space',
    ]);
    expect(names).toHaveLength(5);
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(JSON.parse(textOf(await bench.call(name, {})))).toMatchObject({ tool: raw[index] });
      expect((await bench.tool(name)).spec.description).toContain(raw[index]);
    }
  });

  it('repairs odd schemas, or says what it leaves out [field H8] [MCP-5]', async () => {
    const tools = [
      tool('one'),
      tool('two'),
      tool('three', { inputSchema: { anyOf: [{ type: 'object' }] } }),
      tool('four', { outputSchema: { properties: { a: {} } } }),
      tool('five', { inputSchema: null }),
      { inputSchema: {} },
      7,
    ];
    await using bench = bridgeBench({ servers: { s: oddServer({ tools }) } });
    const offered = (await bench.tools()).filter(({ spec }) => spec.name.startsWith('s_'));
    expect(offered.map(({ spec }) => spec.name)).toEqual(['s_one', 's_two', 's_three', 's_four', 's_five']);
    for (const { spec } of offered) expect(spec.parameters).toEqual({ type: 'object', properties: {} });
    for (const { spec } of offered) await bench.call(spec.name, {});
    expect(bench.bridge.statuses()[0]?.diagnostics).toEqual([
      'entry 6 of its tool list has no name: left out',
      'entry 7 of its tool list has no name: left out',
      '"five": left out at the root of its schema: a schema that is no object',
    ]);
  });

  it('sends an empty object where a tool takes nothing [field H10] [MCP-5]', async () => {
    const tools = [
      tool('a'),
      tool('b', { inputSchema: {} }),
      tool('c', { inputSchema: { type: 'object', properties: null } }),
    ];
    await using bench = bridgeBench({ servers: { s: oddServer({ tools }) } });
    for (const name of ['s_a', 's_b', 's_c']) {
      expect((await bench.tool(name)).spec.parameters).toEqual({ type: 'object', properties: {} });
      for (const args of [undefined, null, {}]) {
        expect(JSON.parse(textOf(await bench.call(name, args)))).toMatchObject({ arguments: {} });
      }
    }
  });

  it('reads every page of tools [field H11] [MCP-4]', async () => {
    const tools = Array.from({ length: 45 }, (_, index) => tool(`t${index}`));
    await using bench = bridgeBench({ servers: { s: oddServer({ tools, pageSize: 20 }) } });
    expect((await bench.names()).filter((name) => name.startsWith('s_t'))).toHaveLength(45);
  });

  it('has the new list at the next request, read in few listings [field H13] [MCP-4]', async () => {
    await using folder = await scratchFolder();
    const journal = join(folder.path, 'journal');
    const toolsLater = Array.from({ length: 29 }, (_, index) => tool(`new${index}`));
    const tools = [tool('changed'), ...Array.from({ length: 5 }, (_, index) => tool(`old${index}`))];
    await using bench = bridgeBench({
      servers: { s: oddServer({ tools, toolsLater, pageSize: 20, journal }) },
    });
    const older = await bench.tool('s_old1');
    await bench.call('s_changed', { notices: 50 });
    const next = (await bench.bridge.refresh()).map(({ spec }) => spec.name);
    expect(next.filter((name) => name.startsWith('s_'))).toEqual(toolsLater.map(({ name }) => `s_${name}`));
    const call = await older.prepare(
      {},
      { callId: 'c', session: { id: 's', cwd: '/', agent: 'a' }, turn: {}, model: null },
      new AbortController().signal,
    );
    expect(call.permission).toEqual({ action: 'mcp', label: 's_old1' });
    const listings = (await linesOf(journal)).filter((line) => line.startsWith('tools/list'));
    expect(listings.length).toBeLessThanOrEqual(2 * 4);
  });

  it('shows servers the safe base and what is configured for them [field H19] [MCP-7]', async () => {
    process.env['ODD_API_KEY'] = 'secret';
    await using bench = bridgeBench({
      servers: { s: oddServer({ tools: [tool('env')] }, { env: { TOKEN: 't' } }) },
    });
    const seen = JSON.parse(textOf(await bench.call('s_env', {}))) as Record<string, string>;
    expect(seen).toMatchObject({ TOKEN: 't', PATH: process.env['PATH'] });
    const allowed = /^(?:PATH|HOME|LANG|LC_.*|TERM|USER|SHELL|TMPDIR|TOKEN|__CF.*)$/;
    expect(Object.keys(seen).filter((name) => !allowed.test(name))).toEqual([]);
    delete process.env['ODD_API_KEY'];
  });

  it('leaves no process of a server behind, helpers included [MCP-7]', async () => {
    const bench = bridgeBench({ servers: { s: oddServer({ tools: [tool('helper')] }) } });
    const helper = Number(textOf(await bench.call('s_helper', {})));
    expect(process.kill(helper, 0)).toBe(true);
    await bench.bridge.close();
    await until(() => {
      try {
        return !process.kill(helper, 0);
      } catch {
        return true;
      }
    });
  });
});
