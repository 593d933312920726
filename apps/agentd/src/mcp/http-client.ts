import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '@agentd/contract';
import { serveClient, type ServedParts } from './mcp-server.ts';

export interface HttpClientInit {
  readonly sessionId: string;
  readonly parts: ServedParts;
  readonly clock: Clock;
  /** Called when the client ends the session. */
  readonly onClose: () => void;
}

/** One client of the HTTP door, from its `initialize` on. */
export class HttpClient {
  readonly sessionId: string;
  readonly #transport: StreamableHTTPServerTransport;
  readonly #mcp: McpServer;
  readonly #clock: Clock;
  #openRequests = 0;
  #seenAt: number;

  private constructor(
    { sessionId, clock }: HttpClientInit,
    transport: StreamableHTTPServerTransport,
    mcp: McpServer,
  ) {
    this.sessionId = sessionId;
    this.#clock = clock;
    this.#seenAt = clock.now();
    this.#transport = transport;
    this.#mcp = mcp;
  }

  static async open(init: HttpClientInit): Promise<HttpClient> {
    const { sessionId, parts, onClose } = init;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => sessionId,
      onsessionclosed: onClose,
    });
    return new HttpClient(init, transport, await serveClient(parts, transport));
  }

  /** False where its first request was no good, so that it never became a session. */
  get isInitialized(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** Null while a request or a stream is open. */
  get idleSince(): number | null {
    return this.#openRequests > 0 ? null : this.#seenAt;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    this.#openRequests++;
    response.once('close', () => {
      this.#openRequests--;
      this.#seenAt = this.#clock.now();
      if (!response.writableFinished) this.#cancel(body);
    });
    await this.#transport.handleRequest(request, response, body);
  }

  async close(): Promise<void> {
    await this.#mcp.close();
  }

  /** An answer that can no longer be delivered is wanted by nobody: there is no stream to take up again. */
  #cancel(body: unknown): void {
    for (const message of Array.isArray(body) ? body : [body]) {
      if (!isJSONRPCRequest(message)) continue;
      const params = { requestId: message.id, reason: 'the connection broke' };
      this.#transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
  }
}
