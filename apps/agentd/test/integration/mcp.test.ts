import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { mediaSamples, pngSample } from '@agentd/media-delivery/testing';
import { gone, INITIALIZE, pidIn, rawServer, stdioPeer, type McpPeer } from './mcp-bench.ts';
import { commandOf, payloads, surroundingsOf, Workbench, jsonLines } from './workbench.ts';

let bench: Workbench;
let peer: McpPeer;
const inWorkspace = (name: string): string => join(bench.workspace, name);

beforeAll(async () => {
  bench = await Workbench.create();
  await bench.write('ws/a.txt', 'alpha\nbeta\n');
  await bench.write('outside/secret.txt', 'secret\n');
  peer = await stdioPeer(bench);
});
afterAll(async () => {
  await peer[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

describe('agentd mcp on stdio', () => {
  it("serves agentd's own tools with hints, and says what it is [MCP-8]", async () => {
    const { tools } = await peer.client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['read', true],
      ['write', false],
      ['edit', false],
      ['bash', false],
      ['webfetch', true],
    ]);
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(peer.client.getServerVersion()).toMatchObject({ name: 'agentd', version: '0.0.0' });
    expect(peer.client.getInstructions()).toContain(bench.workspace);
  });

  it('runs the calls of a client side by side [MCP-8] [SCH-2]', async () => {
    const waitForBoth = (own: string) =>
      peer.text('bash', {
        command: `touch ${own}; until [ -e x1 ] && [ -e x2 ]; do sleep 0.02; done; echo met`,
      });
    for (const text of await Promise.all([waitForBoth('x1'), waitForBoth('x2')]))
      expect(text).toContain('met');
  });

  it('changes one file in the order in which the calls came, and none is stale [MCP-8] [SCH-4]', async () => {
    await bench.write('ws/count.txt', '0');
    const steps = Array.from({ length: 8 }, (_, n) =>
      peer.text('edit', { filePath: 'count.txt', oldString: `${n}`, newString: `${n + 1}` }),
    );
    expect(new Set(await Promise.all(steps))).toEqual(new Set(['Edited count.txt (line 1).']));
    expect(await peer.text('read', { filePath: 'count.txt' })).toContain('\n1: 8\n');
  });

  it('tells of progress, and ends a command with its request [MCP-8] [BASH-6]', async () => {
    const abort = new AbortController();
    const heard: Progress[] = [];
    const onprogress = (progress: Progress): void => {
      heard.push(progress);
      abort.abort('enough');
    };
    const command = 'echo $$ > sleeper; echo working on it; sleep 1000 & wait';
    const call = peer.call('bash', { command }, { signal: abort.signal, onprogress });
    await expect(call).rejects.toThrow(/enough/);
    expect(heard[0]).toEqual({ progress: 1, message: 'working on it' });
    await gone(await pidIn(inWorkspace('sleeper')));
  });

  it('approves what asks in the working directory, and denies what asks outside of it, links included [MCP-8] [PERM-6] [FS-11]', async () => {
    await bench.write('ws/.env', 'KEY=1\n');
    expect(await peer.text('read', { filePath: '.env' })).toContain('1: KEY=1');
    expect(await peer.text('write', { filePath: 'deep/er/new.txt', content: 'x' })).toContain('Created');
    await using site = createServer((_, response) => {
      response.setHeader('content-type', 'text/plain').setHeader('connection', 'close').end('hello');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    expect(await peer.text('webfetch', { url: `http://127.0.0.1:${port}/` })).toContain('status_code: 200');
    await symlink(join(bench.workspace, '../outside'), inWorkspace('link'));
    for (const filePath of ['../outside/secret.txt', 'link/secret.txt', '/etc/hostname']) {
      const text = await peer.text('read', { filePath });
      expect(text).toMatch(/^failed: error: permission_denied: .*"read: \/\* = ask" asks.*--allow "read:/);
    }
    expect(await peer.text('write', { filePath: 'link/new.txt', content: 'x' })).toContain(
      'permission_denied',
    );
  });

  it('keeps to its flags: which tools, which rules, which mode [MCP-8] [PERM-6] [ARG-5]', async () => {
    const outside = join(bench.workspace, '../outside');
    const rules = ['--allow', `read:${outside}/*`, '--deny', 'bash:rm *', '--mode', 'ask'];
    await using strict = await stdioPeer(bench, '--tools', 'read,bash,write', '--allow', 'bash', ...rules);
    const { tools } = await strict.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['read', 'write', 'bash']);
    expect(await strict.text('read', { filePath: `${outside}/secret.txt` })).toContain('1: secret');
    expect(await strict.text('bash', { command: 'echo ok' })).toContain('ok');
    expect(await strict.text('bash', { command: 'true; rm -f a.txt' })).toContain('permission_denied');
    expect(await strict.text('write', { filePath: 'w', content: '' })).toMatch(
      /permission_denied: .*nobody can be asked/,
    );
    expect(await strict.text('edit', { filePath: 'a.txt', oldString: 'a', newString: 'b' })).toMatch(
      /^failed: error: not_published: .*read, write, bash/,
    );
  });

  it('says as a result what is wrong with a call [MCP-8] [ARG-3]', async () => {
    expect(await peer.text('read', { path: 'a.txt' })).toMatch(
      /^failed: error: invalid_arguments: .*filePath/,
    );
    expect(await peer.text('read', { filePath: 'none' })).toMatch(/^failed: error: not_found: /);
  });

  it('cuts long output with a hint, and serves the rest by it [MCP-8] [OUT-5] [ART-4]', async () => {
    const text = await peer.text('bash', { command: 'seq 1 5000' });
    const [, filePath = '', offset = ''] =
      /read\(filePath="(artifact:[^"]+)", offset=(\d+)\)/.exec(text) ?? [];
    const page = await peer.text('read', { filePath, offset: Number(offset), limit: 2 });
    expect(page).toBe(`${Number(offset) + 1}\n${Number(offset) + 2}\n[next_offset: ${Number(offset) + 2}]`);
  });

  it('attaches every valid file: images and sound as such, others as resources [MCP-8] [MED-2] [FS-12]', async () => {
    const sample = (mimeType: string): Uint8Array =>
      mediaSamples().find((candidate) => candidate.mimeType === mimeType)!.bytes;
    const files = { 'a.png': pngSample(), 'b.wav': sample('audio/wav'), 'c.pdf': sample('application/pdf') };
    const parts = await Promise.all(
      Object.entries(files).map(async ([filePath, bytes]) => {
        await writeFile(inWorkspace(filePath), bytes);
        return (await peer.call('read', { filePath })).content[1];
      }),
    );
    const base64 = Object.values(files).map((bytes) => Buffer.from(bytes).toString('base64'));
    expect(parts).toMatchObject([
      { type: 'image', mimeType: 'image/png', data: base64[0] },
      { type: 'audio', mimeType: 'audio/wav', data: base64[1] },
      { type: 'resource', resource: { mimeType: 'application/pdf', blob: base64[2] } },
    ]);
  });

  it('keeps a log of each call, in sessions that are used again [MCP-8] [SES-1]', async () => {
    const other = await Workbench.create();
    await using _ = other;
    await using own = await stdioPeer(other);
    for (const command of ['true', 'echo 2', 'echo 3']) await own.text('bash', { command });
    const { stdout } = await other.run(['sessions', 'list', '--json']);
    const sessions = JSON.parse(stdout) as { session_id: string; title: string }[];
    expect(sessions).toMatchObject([{ title: 'agentd mcp' }]);
    const { stdout: log } = await other.run(['sessions', 'events', sessions[0]!.session_id]);
    const lines = jsonLines(log).map((event) => ({ type: 'event', event: event as never }));
    expect(payloads(lines, 'run_completed')).toHaveLength(3);
    expect(payloads(lines, 'approval_finalized')).toMatchObject([{ source: 'policy' }, {}, {}]);
  });

  it.each([
    {
      name: 'an unknown tool',
      args: ['--tools', 'read,grep'],
      code: 2,
      says: /expected some of read,write,edit/,
    },
    { name: 'no port', args: ['--http', '70000'], code: 2, says: /expected a port/ },
    { name: 'a config that is not there', args: ['--config', 'none.toml'], code: 5, says: /none\.toml/ },
  ])(
    'refuses $name with one line, and says nothing on stdout [CLI-1] [CLI-3]',
    async ({ args, code, says }) => {
      const { stderr, ...outcome } = await bench.run(['mcp', ...args]);
      expect(outcome).toEqual({ code, stdout: '' });
      expect(stderr).toMatch(says);
      expect(stderr.trimEnd()).not.toContain('\n');
    },
  );
});

describe('agentd mcp and a client that is not what it should be', () => {
  it('answers lines that are no messages, and goes on [MCP-8]', async () => {
    const server = rawServer(bench);
    await server.initialize();
    const lines = [
      'not json',
      '',
      '[]',
      '{"jsonrpc":"2.0","id":"x","method":5}',
      '\u0000\u0001',
      '"',
      '{"id":9}',
    ];
    server.child.stdin.write(lines.map((line) => `${line}\r\n`).join(''));
    server.child.stdin.write(Buffer.from([0xff, 0xfe, 0x0a]));
    server.child.stdin.write(`${'['.repeat(200_000)}\n`);
    await server.ask(1, 'ping');
    expect(await server.ask(2, 'no/such/method')).toMatchObject({ error: { code: -32601 } });
    const odd = { name: 'read', arguments: 'not an object' };
    expect(await server.ask(6, 'tools/call', odd)).toMatchObject({ error: { code: -32602 } });
    expect(await server.message(({ id }) => id === 'x')).toMatchObject({ error: { code: -32600 } });
    expect(await server.message(({ id }) => id === 9)).toMatchObject({ error: { code: -32600 } });
    const nested = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{"filePath":${'['.repeat(50_000)}${']'.repeat(50_000)}}}}\n`;
    server.child.stdin.write(nested);
    expect(JSON.stringify(await server.message(({ id }) => id === 3))).toContain('error');
    const batch = [
      { jsonrpc: '2.0', id: 4, method: 'ping' },
      { jsonrpc: '2.0', id: 5, method: 'ping' },
    ];
    server.child.stdin.write(`${JSON.stringify(batch)}\n`);
    await Promise.all([4, 5].map((wanted) => server.message(({ id }) => id === wanted)));
    server.child.stdin.end();
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('ends when its input ends: what runs is ended with it, and logged as cancelled [MCP-8] [SES-5]', async () => {
    const server = rawServer(bench);
    await server.initialize();
    const command = 'echo $$ > sleeper1; sleep 1000';
    server.say({ id: 1, method: 'tools/call', params: { name: 'bash', arguments: { command } } });
    const pid = await pidIn(inWorkspace('sleeper1'));
    server.child.stdin.end();
    expect(await server.ended).toMatchObject({ code: 0 });
    await gone(pid);
    const { stdout } = await bench.run(['sessions', 'list', '--json', '--cwd', '.']);
    expect(stdout).not.toContain('"running"');
    expect(stdout).not.toContain('"interrupted"');
  });

  it('tells the client what was not trusted; ends on SIGTERM, and leaves nothing behind [MCP-8]', async () => {
    await bench.write('ws/brings/.agentd/agents/mine.md', 'not looked at');
    const server = rawServer(bench, '--cwd', 'brings');
    await server.initialize();
    const told = await server.message(({ method }) => method === 'notifications/message');
    expect(told.params).toMatchObject({ level: 'warning', data: expect.stringContaining('not trusted') });
    const command = 'echo $$ > ../sleeper2; sleep 1000';
    server.say({ id: 1, method: 'tools/call', params: { name: 'bash', arguments: { command } } });
    const pid = await pidIn(inWorkspace('sleeper2'));
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0 });
    await gone(pid);
  });

  it('leaves nothing behind when its client is killed in the middle of a call [MCP-8]', async () => {
    await mkdir(inWorkspace('killed'));
    const cwd = inWorkspace('killed');
    const command = 'echo $PPID > server; echo $$ > command; sleep 1000';
    const messages = [
      { id: 0, method: 'initialize', params: INITIALIZE },
      { method: 'notifications/initialized' },
      { id: 1, method: 'tools/call', params: { name: 'bash', arguments: { command } } },
    ];
    const host = `
      const [command, ...args] = ${JSON.stringify(commandOf(['mcp']))};
      const child = require('node:child_process').spawn(command, args);
      for (const message of ${JSON.stringify(messages)})
        child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      child.stdout.on('data', () => {});
    `;
    const client = spawn(process.execPath, ['-e', host], { ...surroundingsOf(bench), cwd, stdio: 'ignore' });
    const pids = await Promise.all(['server', 'command'].map((name) => pidIn(join(cwd, name))));
    client.kill('SIGKILL');
    await Promise.all(pids.map(gone));
  });
});
