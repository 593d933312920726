import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { systemClock, type PreparedCall, type ToolCompletion } from '@agentd/contract';
import { contextIn, textOf } from '../../testing/calls.ts';
import { createWebfetchTool, type WebfetchLimits, type WebfetchPorts } from '../webfetch-tool.ts';

const NEVER = new AbortController().signal;

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly origin: string;
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
}

/** A real HTTP server on loopback; `await using` ends it with all its connections. */
export async function serve(
  listener: RequestListener,
): Promise<TestServer & { readonly requests: readonly IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  return { ...(await listening(server)), requests };
}

/** A server of raw bytes, for answers that no HTTP library would send. */
export async function serveRaw(onSocket: (socket: Socket) => void): Promise<TestServer> {
  return listening(createTcpServer(onSocket));
}

export async function listening(server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    sockets,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** A listener that answers everything alike. */
export function answering(contentType: string, body: string | Buffer, status = 200): RequestListener {
  return (_request, response) => respond(response, contentType, { body, status });
}

export function respond(
  response: ServerResponse,
  contentType: string,
  { body = '', status = 200, headers = {} }: { body?: string | Buffer; status?: number; headers?: object },
): void {
  response.writeHead(status, { 'content-type': contentType, ...headers }).end(body);
}

export interface FetchSetup {
  readonly raw?: boolean;
  readonly environment?: NodeJS.ProcessEnv;
  readonly limits?: Partial<WebfetchLimits>;
  readonly ports?: Partial<WebfetchPorts>;
  readonly signal?: AbortSignal;
}

export function prepareFetch(url: string, setup: FetchSetup = {}): Promise<PreparedCall> {
  const { raw, environment = {}, limits, ports } = setup;
  const tool = createWebfetchTool({ environment, clock: systemClock, ...ports }, limits);
  return tool.prepare({ url, ...(raw === undefined ? {} : { raw }) }, contextIn('/'), NEVER);
}

export interface Fetched extends ToolCompletion {
  readonly text: string;
  /** The text after the header lines. */
  readonly body: string;
}

/** Prepares and executes one call, as the runtime would. */
export async function fetchText(url: string, setup: FetchSetup = {}): Promise<Fetched> {
  const call = await prepareFetch(url, setup);
  const completion = await call.execute(
    { callId: 'c', report: async () => {}, stdin: null },
    setup.signal ?? NEVER,
  );
  const text = textOf(completion);
  return { ...completion, text, body: text.split('\n').slice(5).join('\n') };
}

/** Resolves once `condition` holds; rejects after `ms`, which only a defect takes. */
export async function eventually(condition: () => boolean, ms = 60_000): Promise<void> {
  const until = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > until) throw new Error(`not so within ${ms} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
