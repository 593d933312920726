import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { pngSample } from '@agentd/media-delivery/testing';
import { writeFile } from 'node:fs/promises';
import { gone, httpServer, INITIALIZE, peerOver, pidIn, type McpPeer } from './mcp-bench.ts';
import { Workbench } from './workbench.ts';

let bench: Workbench;
let server: Awaited<ReturnType<typeof httpServer>>;
let peer: McpPeer;

const peerAt = (url: URL): Promise<McpPeer> => peerOver(new StreamableHTTPClientTransport(url));

beforeAll(async () => {
  bench = await Workbench.create();
  await bench.write('ws/a.txt', 'alpha\n');
  server = await httpServer(bench);
  peer = await peerAt(server.url);
});
afterAll(async () => {
  await peer[Symbol.asyncDispose]();
  await server.stop();
  await bench[Symbol.asyncDispose]();
});

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
}

const INITIALIZING = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE });
const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** One request as it stands, with whatever headers. */
async function ask({ headers = {}, method = 'POST', path = '/mcp', body = INITIALIZING }: Asked) {
  const { hostname, port } = server.url;
  const sent = request({ hostname, port, path, method, headers: { ...ACCEPT, ...headers } });
  sent.end(method === 'POST' ? body : undefined);
  const [response] = await once(sent, 'response');
  const { statusCode, headers: got } = response as { statusCode: number; headers: IncomingHttpHeaders };
  return { status: statusCode, headers: got, text: await textOfStream(response) };
}

describe('agentd mcp over HTTP', () => {
  it('serves several clients at once, each with calls that overlap [MCP-8] [SCH-2]', async () => {
    await using other = await peerAt(server.url);
    const met = [peer, peer, other].map((one, n) =>
      one.text('bash', {
        command: `touch y${n}; until [ -e y0 ] && [ -e y1 ] && [ -e y2 ]; do sleep 0.02; done; echo met`,
      }),
    );
    for (const text of await Promise.all(met)) expect(text).toContain('met');
  });

  it('gives progress, images and errors, and ends a command with its request [MCP-8]', async () => {
    await writeFile(join(bench.workspace, 'a.png'), pngSample());
    expect((await peer.call('read', { filePath: 'a.png' })).content[1]).toMatchObject({ type: 'image' });
    expect(await peer.text('read', { filePath: '/etc/hostname' })).toContain('permission_denied');
    const abort = new AbortController();
    const onprogress = ({ message }: Progress): void => abort.abort(message);
    const command = 'echo $$ > sleeper; echo up; sleep 1000';
    const call = peer.call('bash', { command }, { signal: abort.signal, onprogress });
    await expect(call).rejects.toThrow(/up/);
    await gone(await pidIn(join(bench.workspace, 'sleeper')));
  });

  it('ends what a client waited for whose connection broke [MCP-8]', async () => {
    const { headers } = await ask({});
    const command = 'echo $$ > orphan; sleep 1000';
    const params = { name: 'bash', arguments: { command } };
    const { hostname, port } = server.url;
    const sent = request({
      hostname,
      port,
      path: '/mcp',
      method: 'POST',
      headers: { ...ACCEPT, 'mcp-session-id': String(headers['mcp-session-id']) },
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    const pid = await pidIn(join(bench.workspace, 'orphan'));
    sent.destroy();
    await gone(pid);
  });

  it.each([
    { name: 'another Host', asked: { headers: { host: 'evil.example:80' } }, status: 403, word: 'Host' },
    {
      name: 'a Host that begins like this machine',
      asked: { headers: { host: 'localhost.evil.example' } },
      status: 403,
      word: 'Host',
    },
    {
      name: 'another Origin',
      asked: { headers: { origin: 'https://evil.example' } },
      status: 403,
      word: 'Origin',
    },
    { name: 'an Origin without a name', asked: { headers: { origin: 'null' } }, status: 403, word: 'Origin' },
    { name: 'another path', asked: { path: '/' }, status: 404, word: '/mcp' },
    { name: 'a body that is not JSON', asked: { body: '{"jsonrpc":' }, status: 400, word: 'not JSON' },
    {
      name: 'a call without a session',
      asked: { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' },
      status: 400,
      word: 'Mcp-Session-Id',
    },
    {
      name: 'a session that is not known',
      asked: { headers: { 'mcp-session-id': 'x' } },
      status: 404,
      word: 'initialize',
    },
    { name: 'a stream without a session', asked: { method: 'GET' }, status: 400, word: 'Mcp-Session-Id' },
  ])('refuses $name [MCP-8]', async ({ asked, status, word }) => {
    const answer = await ask(asked);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(word);
  });

  it('takes the names of this machine, and tells browsers of other sites nothing [MCP-8]', async () => {
    const { port } = server.url;
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, '[::1]:9000'])
      expect((await ask({ headers: { host, origin: `http://${host}` } })).status).toBe(200);
    const preflight = await ask({ method: 'OPTIONS', headers: { origin: 'http://localhost:3000' } });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('forgets a session that its client has ended [MCP-8]', async () => {
    const { headers } = await ask({});
    const session = {
      'mcp-session-id': String(headers['mcp-session-id']),
      'mcp-protocol-version': '2025-11-25',
    };
    expect((await ask({ method: 'DELETE', headers: session })).status).toBe(200);
    expect((await ask({ method: 'GET', headers: session })).status).toBe(404);
  });

  it('asks for the token where there is one, and ends on SIGTERM with what runs [MCP-8] [CLI-1]', async () => {
    const guarded = await httpServer(bench, [], { AGENTD_MCP_TOKEN: 'hush' });
    await expect(peerAt(guarded.url)).rejects.toThrow(/AGENTD_MCP_TOKEN/);
    const requestInit = { headers: { authorization: 'Bearer hush' } };
    const transport = new StreamableHTTPClientTransport(guarded.url, { requestInit });
    const trusted = await peerOver(transport);
    const call = trusted.text('bash', { command: 'echo $$ > last; sleep 1000' }).catch(() => 'broken');
    const pid = await pidIn(join(bench.workspace, 'last'));
    expect(await guarded.stop()).toMatchObject({ code: 0, stderr: '' });
    await gone(pid);
    await trusted[Symbol.asyncDispose]();
    await call;
  });

  it('fails with one line where the port is taken [MCP-8] [CLI-3]', async () => {
    const { code, stdout, stderr } = await bench.run(['mcp', '--http', server.url.port]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^agentd: cannot listen on port \d+ of 127\.0\.0\.1: it is in use[^\n]*\n$/);
  });
});
