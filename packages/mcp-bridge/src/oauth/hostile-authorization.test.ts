import { describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { once } from 'node:events';
import { systemClock } from '@agentd/contract';
import { sdkConnector } from '../sdk/sdk-connector.ts';
import type { HttpTarget } from '../settings.ts';
import { bridgeBench, httpServer, until } from '../test/bridge-bench.ts';
import { guard } from '../test/odd-authorization.ts';
import { oddHttp, type HttpExchange, type OddHttp } from '../test/odd-http.ts';
import { memoryCredentials } from '../testing/memory-credentials.ts';
import { credentialKey, type CredentialStore } from './credentials.ts';
import { listenForAnswer } from './loopback.ts';

const NEVER = new AbortController().signal;
const client = { name: 'test', version: '1' };

function benchFor(server: OddHttp, credentials: CredentialStore, changes: Partial<HttpTarget> = {}) {
  const target = { kind: 'http', url: server.url, headers: {}, oauth: {}, ...changes } as const;
  const connector = sdkConnector({ clock: systemClock, credentials, client });
  const bench = bridgeBench({ servers: { s: httpServer(server.url, { target }) }, ports: { connector } });
  return { bench, key: credentialKey({ name: 's', target }) };
}

async function open(url: URL): Promise<void> {
  const page = await fetch(url, { redirect: 'manual' });
  await fetch(page.headers.get('location') ?? '');
}

/** Lets a server do something else for one path. */
function instead(server: OddHttp, path: string, act: (exchange: HttpExchange) => void): void {
  const usual = server.take;
  server.take = (exchange) => {
    if (exchange.request.url !== path) return usual(exchange);
    act(exchange);
    return true;
  };
}

/** Writes as long as anybody reads. */
function writeWithoutEnd({ response }: HttpExchange, chunk: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

describe('an authorization server that means harm', () => {
  it('cannot hold a token request over the end of the bridge, nor the lock [MCP-6] [MCP-4]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    const store = memoryCredentials();
    const { bench, key } = benchFor(server, store);
    await bench.bridge.authorize('s', { open }, NEVER);
    await bench.tools();
    auth.valid.clear();
    let [asked, ended] = [0, 0];
    instead(server, '/token', ({ response }) => {
      asked += 1;
      response.on('close', () => (ended += 1));
    });
    const call = bench.call('s_echo', {});
    call.catch(() => undefined);
    await until(() => asked === 1);
    await bench.bridge.close();
    await until(() => ended === 1);
    await expect(call).rejects.toThrow();
    await store.update(key, async (before) => before);
  });

  it('cannot fill the memory with metadata or with the text of an error [MCP-6]', async () => {
    await using server = await oddHttp();
    guard(server);
    const { bench } = benchFor(server, memoryCredentials());
    await using _ = bench;
    let ended = false;
    instead(server, '/.well-known/oauth-authorization-server', (exchange) => {
      exchange.response.on('close', () => (ended = true));
      exchange.response.writeHead(200, { 'content-type': 'application/json' });
      writeWithoutEnd(exchange, ' '.repeat(65_536));
    });
    await expect(bench.bridge.authorize('s', { open }, NEVER)).rejects.toMatchObject({
      code: 'MCP_OVERSIZED',
    });
    await until(() => ended);
    server.take = (exchange) => {
      exchange.response.writeHead(500, { 'content-type': 'text/plain' });
      writeWithoutEnd(exchange, 'no '.repeat(10_000));
      return true;
    };
    await bench.tools();
    expect(bench.bridge.statuses()[0]?.problem).toMatch(/^HTTP 500: .*no no/);
  });

  it('gets none of the headers that the user gave for the server [MCP-6]', async () => {
    await using other = await oddHttp();
    const seen: unknown[] = [];
    other.take = ({ request, status }) => {
      seen.push(request.headers['x-key']);
      status(401);
      return true;
    };
    await using server = await oddHttp();
    server.take = ({ status }) => {
      status(307, '', { location: other.url });
      return true;
    };
    const { bench } = benchFor(server, memoryCredentials(), { headers: { 'x-key': 'secret' } });
    await using _ = bench;
    await expect(bench.bridge.authorize('s', { open }, NEVER)).rejects.toMatchObject({
      code: 'MCP_USAGE',
      message: 'the server answers HTTP 307 and asks for no authorization',
    });
    expect(await bench.names()).toEqual([]);
    expect(seen).toEqual([]);
  });
});

describe('the loopback address', () => {
  it('outlives requests whose address is none [MCP-6]', async () => {
    await using loopback = await listenForAnswer(0, 'the-state');
    const { port } = new URL(loopback.redirectUrl);
    for (const path of ['//', '///', 'http://[', '*']) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 40[04] /);
    }
    expect((await fetch(`${loopback.redirectUrl}?code=right&state=the-state`)).status).toBe(200);
    expect(await loopback.code(NEVER)).toBe('right');
  });
});
