import { describe, expect, it } from '@jest/globals';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { answering, eventually, fetchText, respond, serve, serveRaw } from './testing/web-harness.ts';

const CAP = 16 * 1024 * 1024;
const TEXT = 'grün und blau\n'.repeat(1000);

const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

function serveEncoded(encoding: string, body: Buffer, status = 200) {
  return serve((_request, response) =>
    respond(response, 'text/plain', { body, status, headers: { 'content-encoding': encoding } }),
  );
}

describe('content encodings', () => {
  it('asks for those that it decodes [WEB-16]', async () => {
    await using server = await serve(answering('text/plain', ''));
    await fetchText(server.origin);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip, deflate, br, zstd');
  });

  it.each(Object.entries(ENCODERS))('decodes %s [WEB-16]', async (encoding, encode) => {
    await using server = await serveEncoded(encoding.toUpperCase(), encode(Buffer.from(TEXT)));
    expect((await fetchText(server.origin)).body).toBe(TEXT);
  });

  it('decodes bare deflate, several encodings in their order, and identity [WEB-16]', async () => {
    const bytes = Buffer.from(TEXT);
    for (const [encoding, body] of [
      ['deflate', deflateRawSync(bytes)],
      ['gzip, br', brotliCompressSync(gzipSync(bytes))],
      ['identity', bytes],
    ] as const) {
      await using server = await serveEncoded(encoding, body);
      expect((await fetchText(server.origin)).body).toBe(TEXT);
    }
  });

  it.each(Object.entries(ENCODERS))(
    'takes a cut or a false %s body for what it is [WEB-16]',
    async (encoding, encode) => {
      const whole = encode(Buffer.from(TEXT));
      for (const body of [whole.subarray(0, whole.length - 5), Buffer.from('plain text')]) {
        await using server = await serveEncoded(encoding, body);
        await expect(fetchText(server.origin)).rejects.toMatchObject({ code: 'transport_error' });
      }
    },
  );

  it.each(['compress', 'constructor', '__proto__', 'gzip, gzip, gzip, gzip, gzip'])(
    'names an encoding that was not asked for: %s [WEB-16]',
    async (encoding) => {
      await using server = await serveEncoded(encoding, Buffer.from('x'));
      await expect(fetchText(server.origin)).rejects.toMatchObject({
        code: 'transport_error',
        message: expect.stringContaining(`encoded as "${encoding}"`),
      });
    },
  );

  it.each([
    [204, 'gzip'],
    [304, 'gzip'],
    [200, 'br'],
    [200, 'zstd'],
    [200, 'deflate'],
    [200, 'gzip, br'],
  ])('takes an empty %d answer that claims %s [field D14]', async (status, encoding) => {
    await using server = await serveEncoded(encoding, Buffer.alloc(0), status);
    const { body, metadata } = await fetchText(server.origin);
    expect([body, metadata?.['status_code'], metadata?.['truncated']]).toEqual(['', status, false]);
  });
});

describe('a large body', () => {
  it('of exactly 16 MiB is whole, one byte more is cut [WEB-13]', async () => {
    await using server = await serve((request, response) => {
      respond(response, 'text/plain', { body: Buffer.alloc(CAP + Number(request.url?.slice(1)), 'a') });
    });
    const whole = await fetchText(`${server.origin}/0`);
    expect([whole.metadata?.['truncated'], whole.body.length]).toEqual([false, CAP]);
    const cut = await fetchText(`${server.origin}/1`);
    expect([cut.metadata?.['truncated'], cut.body.length]).toEqual([true, CAP]);
    expect(cut.text.split('\n')[3]).toBe('truncated: true');
  });

  it('is counted after decoding, and the connection is closed at the cap [WEB-13]', async () => {
    const bomb = gzipSync(Buffer.alloc(4 * CAP, 'a'));
    await using server = await serve((_request, response) => {
      // Never ended: only the reader can end this.
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).write(bomb);
    });
    const { metadata, body } = await fetchText(server.origin);
    expect([metadata?.['truncated'], body.length]).toEqual([true, CAP]);
    await eventually(() => server.sockets.size === 0);
  });

  it('may be cut inside of a character [WEB-13] [OUT-14]', async () => {
    await using server = await serve(answering('text/plain', `a${'é'.repeat(CAP / 2)}`));
    const { body } = await fetchText(server.origin);
    expect([body.length, body.slice(-2), body.isWellFormed()]).toEqual([CAP / 2 + 1, 'é\uFFFD', true]);
  });
});

describe('the time limit', () => {
  const LIMIT_MS = 400;

  it.each(['before any answer', 'after the headers', 'in a slow drip', 'in redirects without end'])(
    'ends what stalls %s, and closes the socket [WEB-8] [field D4]',
    async (where) => {
      await using server = await serve((request, response) => {
        if (where === 'before any answer') return;
        if (where === 'in redirects without end') {
          setTimeout(() => response.writeHead(302, { location: `${request.url}x` }).end(), 100);
          return;
        }
        response.writeHead(200, { 'content-type': 'text/plain' }).write('0123456789');
        if (where === 'in a slow drip') {
          const drip = setInterval(() => response.write('x'), 50);
          response.once('close', () => clearInterval(drip));
        }
      });
      const startedAt = performance.now();
      await expect(fetchText(server.origin, { limits: { timeoutMs: LIMIT_MS } })).rejects.toMatchObject({
        code: 'timeout',
        message: expect.stringContaining('0.4 s'),
      });
      const elapsed = performance.now() - startedAt;
      expect(elapsed).toBeGreaterThanOrEqual(LIMIT_MS - 5);
      // The stalls have no end, so whatever ends them late is the machine.
      expect(elapsed).toBeLessThan(60_000);
      await eventually(() => server.sockets.size === 0);
    },
  );

  it('is 30 seconds over all that happens [WEB-8]', async () => {
    await using server = await serve(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('x'),
    );
    const waits: { readonly ms: number; readonly run: () => void }[] = [];
    const clock = {
      now: () => 0,
      after: (ms: number, run: () => void) => {
        waits.push({ ms, run });
        return () => undefined;
      },
    };
    const call = fetchText(server.origin, { ports: { clock } });
    await eventually(() => server.requests.length === 1);
    expect(waits.map(({ ms }) => ms)).toEqual([30_000]);
    waits[0]?.run();
    await expect(call).rejects.toMatchObject({ code: 'timeout', message: expect.stringContaining('30 s') });
  });
});

describe('cancelling', () => {
  it('ends a stalled body at once and closes the socket [SCH-10] [field D4]', async () => {
    const cancel = new AbortController();
    await using server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<p>');
    });
    // Nothing but the cancellation can end it.
    const clock = { now: () => 0, after: () => () => undefined };
    const call = fetchText(server.origin, { signal: cancel.signal, ports: { clock } });
    await eventually(() => server.requests.length === 1);
    cancel.abort(new Error('stop'));
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await eventually(() => server.sockets.size === 0);
  });

  it('before the start sends nothing [SCH-10]', async () => {
    await using server = await serve(answering('text/plain', 'x'));
    await expect(fetchText(server.origin, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(server.requests.length).toBe(0);
  });
});

describe('a transport fault', () => {
  it.each([
    [
      'a body that breaks off',
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nshort',
    ],
    [
      'a chunk that breaks off',
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n9\r\nshort',
    ],
    ['an answer that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['no answer', ''],
  ])('is %s [WEB-15] [WEB-16]', async (_fault, answer) => {
    await using server = await serveRaw((socket) => socket.once('data', () => socket.end(answer)));
    await expect(fetchText(server.origin)).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringMatching(/^cannot fetch http:\/\/127\.0\.0\.1:\d+\/: \S/),
    });
  });

  it.each([
    ['headers without end', 'x-a: b\r\n', /Header overflow/],
    ['a header line without end', 'b'.repeat(8192), /Header overflow/],
  ])('is %s [WEB-15] [WEB-16]', async (_fault, piece, problem) => {
    await using server = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-a: b');
      const flood = (): void => {
        while (socket.writable && socket.write(piece.repeat(100)));
      };
      socket.on('drain', flood);
      flood();
    });
    await expect(fetchText(server.origin)).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringMatching(problem),
    });
    await eventually(() => server.sockets.size === 0);
  });

  it('is a switch to another protocol, whose socket is closed [WEB-15]', async () => {
    await using server = await serveRaw((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\nx'),
      );
    });
    await expect(fetchText(server.origin)).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringContaining('another protocol'),
    });
    await eventually(() => server.sockets.size === 0);
  });

  it('says that nothing listens, without the password of the address [WEB-15]', async () => {
    let port = 0;
    {
      await using server = await serve(answering('text/plain', ''));
      ({ port } = server);
    }
    await expect(fetchText(`http://u:secret@127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringMatching(/^(?!.*secret).*nothing accepts connections/),
    });
  });

  it('says that a name does not resolve [WEB-15]', async () => {
    await expect(fetchText('http://no-such-host.invalid/')).rejects.toMatchObject({
      code: 'transport_error',
      message: expect.stringMatching(/no-such-host\.invalid.*resolve/),
    });
  });

  it('says that https met plain http [WEB-15]', async () => {
    await using server = await serve(answering('text/plain', 'x'));
    await expect(fetchText(`https://127.0.0.1:${server.port}/`)).rejects.toMatchObject({
      code: 'transport_error',
    });
  });
});
