import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { codeOf, messageOf, randomIds, systemClock, type Clock } from '@agentd/contract';
import { setUpError } from '../faults.ts';
import { readBody } from './http-body.ts';
import { HttpClient } from './http-client.ts';
import { refusalOf } from './http-guard.ts';
import type { ServedParts } from './mcp-server.ts';

/** Where the protocol is spoken; there is nothing else. */
const PATH = '/mcp';
const MAX_CLIENTS = 256;
/** A client that says nothing for so long has gone without a word. */
const IDLE_MS = 30 * 60 * 1000;
/** Where it is full, that much must do: between two calls of a model it takes less. */
const IDLE_WHEN_FULL_MS = 5 * 60 * 1000;

export interface HttpDoorInit {
  readonly parts: ServedParts;
  /** What every request must carry; null lets everybody on this machine in. */
  readonly token: string | null;
  /** The machine's unless given. */
  readonly clock?: Clock;
  /** 256 unless given. */
  readonly maxClients?: number;
}

/**
 * Streamable HTTP on loopback.
 *   H1. Nothing reaches a tool that comes under another name than this machine's, from another site, or without the token.
 *   H2. Each `initialize` opens a session of its own; one that is not known is told so with 404, so that a client opens
 *       another.
 *   H3. There are `maxClients` sessions at most; room is made by ending those that were idle for long.
 */
export class HttpDoor {
  readonly #init: HttpDoorInit;
  readonly #server: Server;
  readonly #clients = new Map<string, HttpClient>();
  readonly #clock: Clock;
  readonly #maxClients: number;

  constructor(init: HttpDoorInit) {
    this.#init = init;
    this.#clock = init.clock ?? systemClock;
    this.#maxClients = init.maxClients ?? MAX_CLIENTS;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  /** Port 0 picks one; resolves with the address. Contract: throws one clear line where the port cannot be had. */
  async listen(port: number): Promise<string> {
    try {
      this.#server.listen(port, '127.0.0.1');
      await once(this.#server, 'listening');
    } catch (error) {
      const why = codeOf(error) === 'EADDRINUSE' ? 'it is in use' : messageOf(error);
      throw setUpError(`cannot listen on port ${port} of 127.0.0.1: ${why}; --http 0 picks a free one`);
    }
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${PATH}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    await Promise.allSettled([...this.#clients.values()].map((client) => client.close()));
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request.headers, this.#init.token);
    if (refusal !== null) return refuse(response, refusal);
    if (URL.parse(request.url ?? '', 'http://localhost')?.pathname !== PATH)
      return refuse(response, { status: 404, message: `there is only ${PATH} here` });
    const body = request.method === 'POST' ? await readBody(request) : null;
    if (body?.ok === false) return refuse(response, body);
    const message = body?.value;
    const client = await this.#clientOf(request.headers['mcp-session-id'], message);
    if ('status' in client) return refuse(response, client);
    await client.handle(request, response, message);
    if (!client.isInitialized) await this.#end(client);
  }

  async #clientOf(sessionId: unknown, message: unknown): Promise<HttpClient | Problem> {
    if (typeof sessionId === 'string') {
      const known = this.#clients.get(sessionId);
      return known ?? { status: 404, code: -32001, message: 'this session is not known: initialize anew' };
    }
    if (!isInitializeRequest(message))
      return {
        status: 400,
        message: 'the Mcp-Session-Id header is missing, and this is no initialize request',
      };
    if (!(await this.#madeRoom()))
      return { status: 503, message: `${this.#maxClients} clients are at work here: try again later` };
    return this.#opened();
  }

  async #opened(): Promise<HttpClient> {
    const sessionId = randomIds.uuid();
    const client = await HttpClient.open({
      sessionId,
      parts: this.#init.parts,
      clock: this.#clock,
      onClose: () => this.#clients.delete(sessionId),
    });
    this.#clients.set(sessionId, client);
    return client;
  }

  /** Ends who was idle for too long. */
  async #madeRoom(): Promise<boolean> {
    const idle = [...this.#clients.values()]
      .flatMap((client) => (client.idleSince === null ? [] : [{ client, since: client.idleSince }]))
      .toSorted((a, b) => a.since - b.since);
    for (const { client, since } of idle) {
      const enough = this.#clients.size < this.#maxClients ? IDLE_MS : IDLE_WHEN_FULL_MS;
      if (this.#clock.now() - since < enough) break;
      await this.#end(client);
    }
    return this.#clients.size < this.#maxClients;
  }

  async #end(client: HttpClient): Promise<void> {
    this.#clients.delete(client.sessionId);
    await client.close();
  }
}

interface Problem {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
}

function refuse(response: ServerResponse, { status, message, code = -32600 }: Problem): void {
  const error = { code, message };
  response
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`);
}
