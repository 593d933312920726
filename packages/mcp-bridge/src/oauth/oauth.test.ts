import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, type FileLocks } from '@agentd/contract';
import { fileCredentials } from '../file/file-credentials.ts';
import { sdkConnector } from '../sdk/sdk-connector.ts';
import type { OAuthSettings } from '../settings.ts';
import { bridgeBench, httpServer, scratchFolder, textOf, type BridgeBench } from '../test/bridge-bench.ts';
import { guard } from '../test/odd-authorization.ts';
import { oddHttp, type OddHttp } from '../test/odd-http.ts';
import { memoryCredentials } from '../testing/memory-credentials.ts';
import type { CredentialStore } from './credentials.ts';
import { listenForAnswer } from './loopback.ts';

const NEVER = new AbortController().signal;

function benchFor(server: OddHttp, credentials: CredentialStore, oauth: OAuthSettings = {}): BridgeBench {
  const target = { kind: 'http', url: server.url, headers: {}, oauth } as const;
  const connector = sdkConnector({
    clock: systemClock,
    credentials,
    client: { name: 'test', version: '1' },
  });
  return bridgeBench({ servers: { s: httpServer(server.url, { target }) }, ports: { connector } });
}

/** A user whose browser goes where it is sent. */
async function open(url: URL): Promise<void> {
  const page = await fetch(url, { redirect: 'manual' });
  await fetch(page.headers.get('location') ?? '');
}

const stateOf = ({ bridge }: BridgeBench) =>
  bridge.statuses().map(({ state, problem }) => [state, problem])[0];

/** Locks within this process: what a test needs of them. */
function processLocks(): FileLocks {
  const held = new Set<string>();
  return {
    tryExclusive: async (path) => {
      if (held.has(path)) return null;
      held.add(path);
      return { path, release: async () => void held.delete(path) };
    },
  };
}

describe('authorization of a remote server', () => {
  it('waits for the user: nothing is registered and no page is opened before [MCP-6]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    await using bench = benchFor(server, memoryCredentials());
    expect(await bench.names()).toEqual([]);
    expect(stateOf(bench)).toEqual([
      'needs_auth',
      'it wants to be authorized; run: agentd mcp-servers auth s',
    ]);
    expect([auth.registrations, auth.pages, auth.grants]).toEqual([[], [], []]);
  });

  it('finds the server, registers, proves itself with PKCE, and connects [MCP-6]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    const store = memoryCredentials();
    await using bench = benchFor(server, store);
    await bench.tools();
    await bench.bridge.authorize('s', { open }, NEVER);
    expect(stateOf(bench)).toEqual(['connected', null]);
    expect(textOf(await bench.call('s_echo', {}))).toMatch(/^from session-/);
    const page = auth.pages[0]?.searchParams;
    expect([page?.get('code_challenge_method'), page?.get('scope'), page?.get('resource')]).toEqual([
      'S256',
      'tools',
      server.url,
    ]);
    expect(auth.grants[0]?.get('code_verifier')).toMatch(/^[\w.~-]{43,128}$/);
    expect(auth.registrations).toMatchObject([
      { redirect_uris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)] },
    ]);

    // Another process later: nobody is asked again.
    await using later = benchFor(server, store);
    expect(await later.names()).toContain('s_echo');
    expect(auth.pages).toHaveLength(1);
  });

  it('goes by the client that is configured, before any other way [MCP-6]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    await using bench = benchFor(server, memoryCredentials(), { clientId: 'mine', scope: 'other' });
    await bench.bridge.authorize('s', { open }, NEVER);
    expect([auth.registrations.length, auth.pages[0]?.searchParams.get('client_id')]).toEqual([0, 'mine']);
  });

  it('refreshes an expired token once, however many notice it [MCP-6]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    const store = memoryCredentials();
    const benches = [benchFor(server, store), benchFor(server, store), benchFor(server, store)];
    await benches[0]?.bridge.authorize('s', { open }, NEVER);
    for (const bench of benches) await bench.tools();
    auth.valid.clear();
    auth.grants.length = 0;
    const texts = await Promise.all(benches.map(async (bench) => textOf(await bench.call('s_echo', {}))));
    expect(texts.every((text) => text.startsWith('from session-'))).toBe(true);
    expect(auth.grants.map((grant) => grant.get('grant_type'))).toEqual(['refresh_token']);
    for (const bench of benches) await bench.bridge.close();
  });

  it('needs the user again where the refresh is refused [MCP-6]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    await using bench = benchFor(server, memoryCredentials());
    await bench.bridge.authorize('s', { open }, NEVER);
    await bench.tools();
    auth.valid.clear();
    auth.refreshToken = 'revoked';
    await expect(bench.call('s_echo', {})).rejects.toMatchObject({
      code: 'mcp_error',
      message: expect.stringContaining('run: agentd mcp-servers auth s'),
    });
    expect(stateOf(bench)?.[0]).toBe('needs_auth');
    expect(auth.pages).toHaveLength(1);
    await bench.bridge.authorize('s', { open }, NEVER);
    expect(textOf(await bench.call('s_echo', {}))).toMatch(/^from session-/);
  });

  it('is not asked for again and again by a server that refuses all the same [MCP-6] [MCP-8]', async () => {
    await using server = await oddHttp();
    const auth = guard(server);
    Object.assign(auth.valid, { has: () => false });
    await using bench = benchFor(server, memoryCredentials());
    for (let round = 0; round < 3; round += 1) await bench.bridge.authorize('s', { open }, NEVER);
    await expect(bench.bridge.authorize('s', { open }, NEVER)).rejects.toMatchObject({
      code: 'MCP_NEEDS_AUTH',
      message: 'it was authorized 3 times and refuses all the same',
    });
    expect([auth.pages.length, stateOf(bench)?.[0]]).toEqual([3, 'needs_auth']);
  });

  it('is refused where the server asks for none, and for programs [MCP-6]', async () => {
    await using server = await oddHttp();
    await using bench = benchFor(server, memoryCredentials());
    await expect(bench.bridge.authorize('s', { open }, NEVER)).rejects.toMatchObject({
      code: 'MCP_USAGE',
      message: 'the server takes us without any authorization',
    });
    await expect(bench.bridge.authorize('x', { open }, NEVER)).rejects.toMatchObject({ code: 'MCP_USAGE' });
  });

  it('ends when the user gives up, or says no [MCP-6]', async () => {
    await using server = await oddHttp();
    guard(server);
    await using bench = benchFor(server, memoryCredentials());
    const patience = new AbortController();
    const giveUp = async (): Promise<void> => patience.abort(new Error('gave up'));
    await expect(bench.bridge.authorize('s', { open: giveUp }, patience.signal)).rejects.toThrow('gave up');
    const refuse = async (url: URL): Promise<void> => {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({
        state: url.searchParams.get('state') ?? '',
        error: 'access_denied',
      }).toString();
      await fetch(back);
    };
    await expect(bench.bridge.authorize('s', { open: refuse }, NEVER)).rejects.toMatchObject({
      code: 'MCP_NEEDS_AUTH',
      message: 'the authorization was refused: access_denied',
    });
  });
});

describe('the loopback address', () => {
  it('takes the answer with its state and no other [MCP-6]', async () => {
    await using loopback = await listenForAnswer(0, 'the-state');
    const tell = async (query: string): Promise<number> =>
      (await fetch(`${loopback.redirectUrl}?${query}`)).status;
    expect(await tell('code=stolen&state=guess')).toBe(400);
    expect(await tell('code=stolen')).toBe(400);
    expect((await fetch(new URL('/', loopback.redirectUrl))).status).toBe(404);
    expect((await fetch(`${loopback.redirectUrl}?code=x&state=the-state`, { method: 'POST' })).status).toBe(
      404,
    );
    expect(await tell('code=right&state=the-state')).toBe(200);
    expect(await loopback.code(NEVER)).toBe('right');
  });

  it('takes another port where its own is taken [MCP-6]', async () => {
    await using one = await listenForAnswer(0, 's');
    await using other = await listenForAnswer(Number(new URL(one.redirectUrl).port), 's');
    expect(other.redirectUrl).not.toBe(one.redirectUrl);
  });
});

describe('credentials in files', () => {
  it('are readable to the user alone, change one at a time, and survive damage [MCP-6] [field J18]', async () => {
    await using folder = await scratchFolder();
    const store = fileCredentials({
      folder: join(folder.path, 'credentials'),
      locks: processLocks(),
      clock: systemClock,
    });
    const add = (n: number) =>
      store.update('k', async (before) => ({ ...before, tokens: { ...before.tokens, [`t${n}`]: n } }));
    await Promise.all([1, 2, 3, 4].map(add));
    expect(await store.read('k')).toEqual({ tokens: { t1: 1, t2: 2, t3: 3, t4: 4 } });
    const file = join(folder.path, 'credentials', 'k.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder.path, 'credentials'))).mode & 0o777).toBe(0o700);
    expect((await readdir(join(folder.path, 'credentials'))).filter((name) => name.endsWith('.tmp'))).toEqual(
      [],
    );
    await expect(
      store.update('k', async () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ tokens: { t1: 1 } });
    await writeFile(file, '{"tokens":');
    expect(await store.read('k')).toEqual({});
    await add(5);
    expect(await store.read('k')).toEqual({ tokens: { t5: 5 } });
  });
});
