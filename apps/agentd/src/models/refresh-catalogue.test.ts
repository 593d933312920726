import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readCatalogue } from './catalogue-file.ts';
import { refreshCatalogue } from './refresh-catalogue.ts';

const CATALOGUE = {
  anthropic: { models: { 'claude-x': { limit: { context: 9 } } } },
  zai: { models: { glm: { limit: { context: 8 } } } },
};
const MODELS = { anthropic: { 'claude-x': { contextTokens: 9 } } };

let folder: string;
let servers: Server[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentd-catalogue-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

/** The address of a server that answers as told. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const file = () => join(folder, 'models.json');

function refresh(from: string, environment: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
  return refreshCatalogue(
    { from, file: file(), providers: [], environment, now: () => new Date('2026-12-01T10:00:00Z') },
    signal ?? new AbortController().signal,
  );
}

describe('refreshing the catalogue', () => {
  it('keeps what is said of providers that are known here, for the user alone, and replaces what was there [CFG-5]', async () => {
    const url = await serve((_request, response) => response.end(JSON.stringify(CATALOGUE)));
    await writeFile(file(), 'damaged');
    expect(await readCatalogue(file())).toBeNull();
    const stored = { source: `${url}/api.json`, fetchedAt: '2026-12-01T10:00:00.000Z', models: MODELS };
    expect(await refresh(`${url}/api.json`)).toEqual(stored);
    expect(await readCatalogue(file())).toEqual(stored);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['models.json']);
  });

  it('follows redirects, and takes an answer that is compressed [CFG-5]', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/api.json') response.writeHead(302, { location: '/there' }).end();
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(CATALOGUE)));
    });
    expect((await refresh(`${url}/api.json`)).models).toEqual(MODELS);
  });

  it('takes a file that somebody brought [CFG-5]', async () => {
    const copy = join(folder, 'api.json');
    await writeFile(copy, JSON.stringify(CATALOGUE));
    expect(await refresh(copy)).toMatchObject({ source: copy, models: MODELS });
  });

  it('goes through the proxy that the environment names, and around it where that says so [CFG-5] [field D8]', async () => {
    const seen: (string | undefined)[] = [];
    const proxy = await serve((request, response) => {
      seen.push(request.url);
      response.end(JSON.stringify(CATALOGUE));
    });
    await refresh('http://models.invalid/api.json', { http_proxy: proxy });
    expect(seen).toEqual(['http://models.invalid/api.json']);
    const direct = await serve((_request, response) => response.end(JSON.stringify(CATALOGUE)));
    await refresh(`${direct}/api.json`, { HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' });
    expect(seen).toHaveLength(1);
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      'a server that refuses',
      (_request, response) => response.writeHead(404).end('{}'),
      /: the server answered 404; --from/,
    ],
    [
      'a broken connection',
      (request) => request.destroy(),
      /no catalogue of models came from http.*api\.json: .*; --from/,
    ],
    [
      'an answer that is cut',
      (_request, response) =>
        response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
      /no catalogue of models came from/,
    ],
    ['a page', (_request, response) => response.end('<html>'), /is no catalogue of models: it is not JSON$/],
    [
      'other JSON',
      (_request, response) => response.end('{"data":[]}'),
      /it names no model of a provider that is known here$/,
    ],
    [
      'models without facts',
      (_request, response) => response.end('{"openai":{"models":{"m":{}}}}'),
      /it names no model/,
    ],
  ])(
    'says in one line what is wrong, keeps what was there, and leaves nothing behind: %s [CFG-5] [CLI-3]',
    async (_what, listener, message) => {
      await writeFile(file(), 'before');
      const url = (await serve(listener)).replace('//', '//user:secret@');
      const error = await refresh(`${url}/api.json?token=secret`).then(
        () => null,
        (thrown: { readonly code: string; readonly message: string }) => thrown,
      );
      expect(error?.code).toBe('AGENTD_SET_UP');
      expect(error?.message).toMatch(message);
      expect(error?.message).not.toMatch(/secret|\n/);
      expect([await readdir(folder), await readFile(file(), 'utf8')]).toEqual([['models.json'], 'before']);
    },
  );

  it('says so where there is no server, no file, and no room [CFG-5] [CLI-3]', async () => {
    const url = await serve(() => undefined);
    const [server] = servers;
    server?.close();
    await once(server!, 'close');
    await expect(refresh(`${url}/api.json`)).rejects.toMatchObject({
      code: 'AGENTD_SET_UP',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await expect(refresh(join(folder, 'none.json'))).rejects.toMatchObject({
      message: expect.stringContaining('there is no such file'),
    });
    const copy = join(folder, 'api.json');
    await writeFile(copy, JSON.stringify(CATALOGUE));
    await mkdir(file());
    await expect(refresh(copy)).rejects.toMatchObject({
      code: 'AGENTD_SET_UP',
      message: expect.stringMatching(/models\.json: cannot be written: E/),
    });
    expect((await readdir(folder)).toSorted()).toEqual(['api.json', 'models.json']);
  });

  it('ends with an abort, and the server sees it leave', async () => {
    const stop = new AbortController();
    let left: Promise<unknown> | undefined;
    const url = await serve((request, response) => {
      request.socket.on('error', () => undefined);
      left = new Promise((resolve) => request.socket.once('close', resolve));
      response.write('{', () => stop.abort(new Error('enough')));
    });
    await expect(refresh(url, {}, stop.signal)).rejects.toThrow('enough');
    await left;
  });

  it.each([
    '',
    '[]',
    '{"version":2}',
    '{"version":1,"source":"s","fetched_at":"t","models":{"openai":[]}}',
    '{"version":1,"source":"s","fetched_at":"t","models":{"openai":{"m":1}}}',
  ])('a stored copy that is none counts as none: %s [CFG-5]', async (text) => {
    await writeFile(file(), text);
    expect(await readCatalogue(file())).toBeNull();
  });
});
