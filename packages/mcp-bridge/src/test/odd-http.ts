import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface HttpExchange {
  readonly message: HttpMessage;
  /** The body of a form; empty for any other. */
  readonly form: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly reply: (result: object, headers?: Readonly<Record<string, string>>) => void;
  readonly status: (code: number, body?: string, headers?: Readonly<Record<string, string>>) => void;
}

export interface OddHttp extends AsyncDisposable {
  readonly url: string;
  /** Methods in their order, with the session they came with. */
  readonly seen: {
    readonly method: string;
    readonly session: string | undefined;
    readonly params: unknown;
  }[];
  /** Takes an exchange before the usual answers; true when it did. */
  take: (exchange: HttpExchange) => boolean | Promise<boolean>;
  /** Sessions that it knows. */
  readonly sessions: Set<string>;
  tools: readonly unknown[];
}

/** A Streamable HTTP server by hand. Its usual answers are those of a simple, honest one. */
export async function oddHttp(): Promise<OddHttp> {
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const odd: OddHttp = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen: [],
    take: () => false,
    sessions: new Set(),
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    [Symbol.asyncDispose]: () => ended(http),
  };
  let count = 0;
  http.on('request', (request, response) => {
    void serve(odd, { request, response, next: () => `session-${(count += 1)}` });
  });
  return odd;
}

async function ended(http: Server): Promise<void> {
  http.close();
  http.closeAllConnections();
}

interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: () => string;
}

async function serve(odd: OddHttp, { request, response, next }: Incoming): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const message = (request.method === 'POST' && text.startsWith('{') ? JSON.parse(text) : {}) as HttpMessage;
  const status: HttpExchange['status'] = (code, body = '', headers = {}) => {
    response.writeHead(code, headers).end(body);
  };
  const reply: HttpExchange['reply'] = (result, headers = {}) =>
    status(200, JSON.stringify({ jsonrpc: '2.0', id: message.id, result }), {
      'content-type': 'application/json',
      ...headers,
    });
  const session = request.headers['mcp-session-id'] as string | undefined;
  const method = message.method ?? request.method ?? '';
  odd.seen.push({ method, session, params: message.params });
  const form = new URLSearchParams(text.startsWith('{') ? '' : text);
  if (await odd.take({ message, form, request, response, reply, status })) return;
  answer(odd, { method, message, session, next, status, reply });
}

interface Asked extends Pick<HttpExchange, 'message' | 'status' | 'reply'> {
  readonly method: string;
  readonly session: string | undefined;
  readonly next: () => string;
}

function answer(odd: OddHttp, { method, message, session, next, status, reply }: Asked): void {
  switch (method) {
    case 'initialize': {
      const id = next();
      odd.sessions.add(id);
      const protocolVersion = message.params?.['protocolVersion'];
      const serverInfo = { name: 'odd', version: '1' };
      return reply({ protocolVersion, capabilities: { tools: {} }, serverInfo }, { 'mcp-session-id': id });
    }
    case 'GET':
      return status(405);
    case 'DELETE':
      return status(200);
    default:
  }
  if (session === undefined || !odd.sessions.has(session)) return status(404);
  if (method === 'tools/list') return reply({ tools: odd.tools });
  if (method === 'tools/call') {
    return reply({ content: [{ type: 'text', text: `from ${session}` }] });
  }
  return message.id === undefined ? status(202) : reply({});
}
