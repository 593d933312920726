import { AsyncLocalStorage } from 'node:async_hooks';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '@agentd/contract';
import { ClientProvider } from '../oauth/client-provider.ts';
import { credentialKey, type CredentialStore } from '../oauth/credentials.ts';
import { challengeOf, type Challenge } from '../oauth/challenge.ts';
import { refreshOnce, spentRefreshToken } from '../oauth/refresh-once.ts';
import type { NamedTarget } from '../ports.ts';
import type { HttpTarget } from '../settings.ts';
import { shortError, strangerFetch } from '../oauth/stranger-fetch.ts';
import { watchedBody } from './answer-body.ts';
import type { SdkPeer } from './sdk-connection.ts';

export interface HttpPeerPorts {
  readonly clock: Clock;
  readonly credentials: CredentialStore | null;
}

type RequestId = string | number;
type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];
type Sent = JSONRPCMessage | JSONRPCMessage[];

/** A server that is told of a cancelled request has this long to end its answer itself. */
const GRACE_AFTER_CANCEL_MS = 500;
/** What saying good-bye may take. */
const GOOD_BYE_MS = 1000;

/**
 * A Streamable HTTP endpoint. The SDK's transport does the protocol; this adds what it leaves out:
 *   H1. The answer to a cancelled request is given up, however long the server holds it.
 *   H2. A stream that breaks off, or grows too large, fails its request at once.
 *   H3. An expired access token is refreshed by one request, whoever notices.
 *   H4. After `close` no request is open, whichever host it went to.
 */
export class HttpPeer implements SdkPeer {
  readonly transport: Transport;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #server: NamedTarget<HttpTarget>;
  readonly #ports: HttpPeerPorts;
  readonly #provider: ClientProvider | null;
  readonly #current = new AsyncLocalStorage<RequestId>();
  readonly #open = new Map<RequestId, AbortController>();
  readonly #life = new AbortController();
  #challenge: Challenge | null = null;
  #staleToken: unknown;

  constructor(server: NamedTarget<HttpTarget>, ports: HttpPeerPorts) {
    this.#server = server;
    this.#ports = ports;
    const provider = providerFor(server, ports);
    this.#provider = provider;
    this.#inner = new StreamableHTTPClientTransport(new URL(server.target.url), {
      fetch: (input, init) => this.#fetch(input, init),
      requestInit: { headers: { ...server.target.headers } },
      ...(provider === null ? {} : { authProvider: provider }),
    });
    const send = this.#inner.send.bind(this.#inner);
    Object.assign(this.#inner, {
      send: (message: Sent, options?: SendOptions) => this.#send(message, (sent) => send(sent, options)),
      onmessage: (message: JSONRPCMessage) => this.#answered(message),
    });
    this.transport = this.#inner;
  }

  endReason(): string {
    return 'the connection ended';
  }

  /** What to authorize, once the server asked for it and we could not answer. */
  needsAuth(): string | null {
    return this.#challenge === null ? null : adviceFor(this.#server, this.#challenge);
  }

  hadSession(): boolean {
    return this.#inner.sessionId !== undefined;
  }

  async close(): Promise<void> {
    for (const controller of this.#open.values()) controller.abort();
    const good = this.#inner.terminateSession().catch(() => undefined);
    const enough = new Promise<void>((resolve) => void this.#ports.clock.after(GOOD_BYE_MS, resolve));
    if (this.hadSession()) await Promise.race([good, enough]);
    await this.#inner.close().catch(() => undefined);
    this.#life.abort();
  }

  #send(message: Sent, send: (message: Sent) => Promise<void>): Promise<void> {
    if (Array.isArray(message) || !('method' in message)) return send(message);
    if ('id' in message) {
      this.#open.set(message.id, new AbortController());
      return this.#current.run(message.id, () => send(message));
    }
    if (message.method === 'notifications/cancelled')
      this.#giveUp(message.params?.['requestId'] as RequestId);
    return send(message);
  }

  #giveUp(id: RequestId): void {
    const controller = this.#open.get(id);
    if (controller !== undefined) {
      this.#ports.clock.after(GRACE_AFTER_CANCEL_MS, () => {
        this.#open.delete(id);
        controller.abort();
      });
    }
  }

  #answered(message: JSONRPCMessage): void {
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#open.delete(message.id);
  }

  async #fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const id = this.#current.getStore();
    const own = id === undefined ? undefined : this.#open.get(id)?.signal;
    const given = [this.#life.signal, init.signal, own];
    const signal = AbortSignal.any(given.filter((each) => each !== undefined && each !== null));
    const spent = spentRefreshToken(init);
    const { credentials } = this.#ports;
    if (spent !== null && credentials !== null) {
      const parts = { fetch: strangerFetch(signal), store: credentials, key: credentialKey(this.#server) };
      return refreshOnce(parts, { url: input, init, spent, stale: this.#staleToken });
    }
    const endpoint = new URL(this.#server.target.url);
    if (new URL(input).origin !== endpoint.origin) return strangerFetch(signal)(input, init);
    const response = await fetch(input, { ...init, signal });
    if (new URL(input).href === endpoint.href) await this.#look(response, init);
    return watched(response, init.method === 'POST' ? (id ?? null) : null);
  }

  /** Remembers what the endpoint wants, until it wants nothing. */
  async #look(response: Response, init: RequestInit): Promise<void> {
    this.#challenge = challengeOf(response);
    if (this.#challenge !== null) await this.#remember(this.#challenge);
    const sent = new Headers(init.headers).get('authorization');
    if (response.status === 401) this.#staleToken = sent?.replace(/^Bearer /, '') ?? undefined;
  }

  /** Whoever authorizes us may be another process. */
  async #remember({ scope, resourceMetadataUrl }: Challenge): Promise<void> {
    if (this.#provider === null || this.#ports.credentials === null) return;
    const wanted = {
      ...(scope === undefined ? {} : { scope }),
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
    };
    await this.#ports.credentials.update(credentialKey(this.#server), async (before) => ({
      ...before,
      wanted,
    }));
  }
}

function watched(response: Response, id: RequestId | null): Response {
  if (!response.ok) return shortError(response);
  if (response.body === null) return response;
  const isEventStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const body = watchedBody(response.body, { id, isEventStream });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Null where we do not authorize: it is switched off, or the user gave a credential. */
function providerFor(server: NamedTarget<HttpTarget>, { credentials }: HttpPeerPorts): ClientProvider | null {
  const { oauth, headers } = server.target;
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (oauth === null || isGiven || credentials === null) return null;
  const advice = adviceFor(server, { kind: 'unauthorized' });
  return new ClientProvider({
    key: credentialKey(server),
    store: credentials,
    settings: oauth,
    user: null,
    advice,
  });
}

function adviceFor({ name, target }: NamedTarget<HttpTarget>, { kind }: Challenge): string {
  const isGiven = Object.keys(target.headers).some((header) => header.toLowerCase() === 'authorization');
  if (isGiven) return 'it refuses the credentials in its headers; mend them';
  if (target.oauth === null) return 'it wants credentials; set them in its headers, or allow oauth';
  const what = kind === 'insufficient_scope' ? 'wants to be authorized for more' : 'wants to be authorized';
  return `it ${what}; run: agentd mcp-servers auth ${name}`;
}
