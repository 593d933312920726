import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { httpError, type CannedReply } from './canned-reply.ts';

/** A request as the server saw it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON body; undefined where it is none. */
  readonly body: unknown;
  /** When its head arrived, by `performance.now()`. */
  readonly arrivedAt: number;
  /** Resolves when the exchange is over: `false` when the client left before the answer was whole. */
  readonly finished: Promise<boolean>;
}

/** Makes the answer to a request; `index` counts from 0. */
export type ReplyMaker = (request: RecordedRequest, index: number) => CannedReply | Promise<CannedReply>;

export interface ModelServer extends AsyncDisposable {
  /** Base of every path, e.g. `http://127.0.0.1:40123`. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Queues answers, used once each. A function answers every request once the queue is empty. */
  readonly reply: (...replies: readonly (CannedReply | ReplyMaker)[]) => void;
  /** Resolves with the request of this index once it has arrived. */
  readonly arrived: (index: number) => Promise<RecordedRequest>;
  /** How many connections were ever made: less than requests where they are used again. */
  readonly connections: () => number;
  /** Drops every connection and stops listening. */
  readonly close: () => Promise<void>;
}

/**
 * A model provider on loopback for tests and benchmarks: real HTTP, real server-sent events, and every way to fail.
 * It answers any path. Without an answer in store it refuses with 400.
 */
export async function startModelServer(): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const waiting = new Map<number, (request: RecordedRequest) => void>();
  const queue: CannedReply[] = [];
  let fallback: ReplyMaker = () =>
    httpError(400, { error: { message: 'the model server has no reply left' } });

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await recordOf(incoming, response);
    const index = requests.push(request) - 1;
    waiting.get(index)?.(request);
    await send(queue.shift() ?? (await fallback(request, index)), response);
  };
  const server = createServer((incoming, response) => {
    // A client that leaves in the middle is what many tests are about.
    handle(incoming, response).catch(() => response.destroy());
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const close = (): Promise<void> => closeServer(server);
  return {
    url: await listen(server),
    requests,
    reply: (...replies) => {
      for (const reply of replies) {
        if (typeof reply === 'function') fallback = reply;
        else queue.push(reply);
      }
    },
    arrived: (index) => {
      const known = requests[index];
      return known === undefined
        ? new Promise((resolve) => waiting.set(index, resolve))
        : Promise.resolve(known);
    },
    connections: () => connections,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function recordOf(incoming: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const arrivedAt = performance.now();
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const finished = new Promise<boolean>((resolve) => {
    response.once('close', () => resolve(response.writableFinished));
  });
  return {
    arrivedAt,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: parse(Buffer.concat(pieces).toString('utf8')),
    finished,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function send(reply: CannedReply, response: ServerResponse): Promise<void> {
  const { body } = reply;
  const whole = typeof body === 'string' ? Buffer.from(body, 'utf8') : Buffer.from(body);
  const { afterBytes, how } = reply.stop ?? { afterBytes: whole.length, how: 'end' };
  // Before the first byte there is no head either, unless the body ends there.
  if (afterBytes > 0 || how === 'end') {
    response.writeHead(reply.status, { ...reply.headers });
    response.socket?.setNoDelay(true);
    response.flushHeaders();
    await write(piecesOf(whole.subarray(0, afterBytes), reply.pieces), response);
  }
  if (how === 'end') response.end();
  if (how === 'reset') response.socket?.resetAndDestroy();
}

async function write(pieces: Iterable<Buffer>, response: ServerResponse): Promise<void> {
  const closed = once(response, 'close');
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
    // Lets the piece leave as a packet of its own.
    await new Promise(setImmediate);
  }
}

function* piecesOf(bytes: Buffer, sizes: readonly number[] = [bytes.length]): Generator<Buffer> {
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.subarray(start, start + size);
    start += size;
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the model server has no address');
  return `http://127.0.0.1:${address.port}`;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
