import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { runFetchChild } from './testing/run-fetch-child.ts';
import { answering, eventually, fetchText, listening, serve, serveRaw } from './testing/web-harness.ts';

const HELLO = answering('text/plain', 'from the target');

/** A forward proxy that sends everything to one port, whatever host was asked for. */
async function proxyTo(port: number) {
  const seen: { readonly line: string; readonly headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    const { pathname, search } = new URL(request.url ?? '');
    const onward = httpRequest({ port, path: pathname + search, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(onward).pipe(client);
    });
    for (const socket of [client, onward]) socket.on('error', () => undefined);
  });
  return { ...(await listening(server)), seen };
}

/** A SOCKS 5 proxy that asks for a name and a password. */
function socksTo(port: number, seen: string[]) {
  const handshake = async (client: Socket): Promise<void> => {
    const next = async (): Promise<Buffer> => ((await once(client, 'data')) as [Buffer])[0];
    await next();
    client.write(Buffer.from([5, 2]));
    const login = await next();
    const user = login.subarray(2, 2 + (login[1] ?? 0)).toString();
    seen.push(`${user}:${login.subarray(3 + user.length).toString()}`);
    client.write(Buffer.from([1, 0]));
    const target = await next();
    seen.push(
      `${target.subarray(5, 5 + (target[4] ?? 0)).toString()}:${target.readUInt16BE(target.length - 2)}`,
    );
    const onward = connect(port, '127.0.0.1', () => {
      client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      client.pipe(onward).pipe(client);
    });
    onward.on('error', () => undefined);
  };
  return serveRaw((client) => void handshake(client));
}

describe('a proxy of the environment', () => {
  it('gets plain requests with the whole address [WEB-9] [field D8]', async () => {
    await using target = await serve(HELLO);
    await using proxy = await proxyTo(target.port);
    const environment = { http_proxy: proxy.origin, HTTP_PROXY: 'http://127.0.0.1:1' };
    const { body, metadata } = await fetchText('http://example.test:8080/a?b=c#d', { environment });
    expect(body).toBe('from the target');
    expect(metadata?.['final_url']).toBe('http://example.test:8080/a?b=c#d');
    expect(proxy.seen.map(({ line }) => line)).toEqual(['GET http://example.test:8080/a?b=c']);
    expect(target.requests[0]?.headers.host).toBe('example.test:8080');
  });

  it('is passed over for what NO_PROXY names [WEB-9] [field D8]', async () => {
    await using target = await serve(HELLO);
    await using proxy = await proxyTo(target.port);
    const environment = { HTTP_PROXY: proxy.origin, NO_PROXY: '127.0.0.1,.local' };
    expect((await fetchText(target.origin, { environment })).body).toBe('from the target');
    expect(proxy.seen).toEqual([]);
  });

  it('is chosen anew on each hop of a redirect [WEB-9] [WEB-10]', async () => {
    await using target = await serve(HELLO);
    await using first = await serve(
      (_request, response) => void response.writeHead(302, { location: 'http://far.test/' }).end(),
    );
    await using proxy = await proxyTo(target.port);
    const environment = { http_proxy: proxy.origin, no_proxy: '127.0.0.1' };
    expect((await fetchText(first.origin, { environment })).body).toBe('from the target');
    expect(proxy.seen.map(({ line }) => line)).toEqual(['GET http://far.test/']);
  });

  it('gets its password, which no result and no target sees [WEB-9] [field D8]', async () => {
    await using target = await serve(HELLO);
    await using proxy = await proxyTo(target.port);
    const environment = { http_proxy: `http://us%40er:p%3Aw@127.0.0.1:${proxy.port}` };
    const result = await fetchText('http://u:p@example.test/', { environment });
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    expect(proxy.seen[0]?.headers).toMatchObject({
      'proxy-authorization': basic('us@er:p:w'),
      authorization: basic('u:p'),
    });
    expect(JSON.stringify(result)).not.toMatch(/p:w|p%3Aw/);
  });

  it.each(['http', 'https'])(
    'that is down is an error without its password (%s target) [WEB-9] [field D8]',
    async (scheme) => {
      let port = 0;
      {
        await using gone = await serve(HELLO);
        ({ port } = gone);
      }
      const environment = { ALL_PROXY: `http://user:secret@127.0.0.1:${port}` };
      const error = await fetchText(`${scheme}://example.test/`, { environment }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: 'transport_error' });
      expect((error as Error).message).not.toMatch(/secret|user/);
    },
  );

  it.each(['http://[', 'ftp://user:secret@proxy.test:21'])(
    'that cannot be used (%s) is named by its variable alone [WEB-9]',
    async (value) => {
      await expect(
        fetchText('http://example.test/', { environment: { http_proxy: value } }),
      ).rejects.toMatchObject({
        code: 'transport_error',
        message: expect.stringMatching(/^(?!.*secret).*http_proxy/),
      });
    },
  );

  it.each([407, 403])('that refuses a tunnel with %d is an error [WEB-9]', async (status) => {
    await using proxy = await serveRaw((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)),
    );
    await expect(
      fetchText('https://example.test/', { environment: { https_proxy: proxy.origin } }),
    ).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringContaining(`the proxy answered ${status} to CONNECT example.test:443`),
    });
  });

  it.each(['http', 'socks5h'])(
    'that stalls (%s) is left at the time limit, its socket closed [WEB-8] [field D4]',
    async (scheme) => {
      await using proxy = await serveRaw((socket) => void socket.resume());
      const environment = { https_proxy: `${scheme}://127.0.0.1:${proxy.port}` };
      await expect(
        fetchText('https://example.test/', { environment, limits: { timeoutMs: 300 } }),
      ).rejects.toMatchObject({ code: 'timeout' });
      await eventually(() => proxy.sockets.size === 0);
    },
  );

  it('may speak SOCKS, and resolves the name itself [WEB-9]', async () => {
    const seen: string[] = [];
    await using target = await serve(HELLO);
    await using proxy = await socksTo(target.port, seen);
    const environment = { all_proxy: `socks5://us%40er:p%2Fw@127.0.0.1:${proxy.port}` };
    expect((await fetchText('http://example.test/', { environment })).body).toBe('from the target');
    expect(seen).toEqual(['us@er:p/w', 'example.test:80']);
    await eventually(() => proxy.sockets.size === 0);
  });
});

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentd-webfetch-'));
  const caFile = join(folder, 'cert.pem');
  let identity: { readonly key: string; readonly cert: string };
  beforeAll(async () => {
    const names = [{ name: 'commonName', value: 'example.test' }];
    const made = await generate(names, {
      keyType: 'ec',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'example.test' }] }],
    });
    identity = { key: made.private, cert: made.cert };
    writeFileSync(caFile, made.cert);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reaches the target through a tunnel of either kind, under its own name [WEB-9]', async () => {
    const seen: string[] = [];
    await using target = await listening(createTlsServer(identity, HELLO));
    await using proxy = await proxyTo(target.port);
    await using socks = await socksTo(target.port, seen);
    for (const https_proxy of [proxy.origin, `socks5://u:p@127.0.0.1:${socks.port}`]) {
      const task = { urls: ['https://example.test/path'], environment: { https_proxy }, raw: true };
      const { texts } = await runFetchChild(task, { NODE_EXTRA_CA_CERTS: caFile });
      expect(texts[0]).toMatch(/^final_url: https:\/\/example\.test\/path\n[^]*from the target$/);
    }
    expect(proxy.seen).toMatchObject([{ line: 'CONNECT example.test:443' }]);
    expect(seen).toEqual(['u:p', 'example.test:443']);
  });

  it('goes through a tunnel, and a certificate that nobody vouches for is an error [WEB-9] [WEB-15]', async () => {
    await using target = await listening(createTlsServer(identity, HELLO));
    await using proxy = await proxyTo(target.port);
    const environment = { HTTPS_PROXY: `http://user:secret@127.0.0.1:${proxy.port}` };
    await expect(fetchText('https://example.test/path', { environment })).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringMatching(/^(?!.*secret).*self-signed certificate/),
    });
    expect(proxy.seen).toMatchObject([
      {
        line: 'CONNECT example.test:443',
        headers: { 'proxy-authorization': expect.stringMatching(/^Basic /) },
      },
    ]);
    await eventually(() => proxy.sockets.size === 0);
  });
});
