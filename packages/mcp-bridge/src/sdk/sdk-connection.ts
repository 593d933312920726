import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import type { JsonObject } from '@agentd/contract';
import type { CallHooks, ListKind, McpConnection, Page, ServerCall } from '../ports.ts';
import { faultOf } from './fault-of.ts';

/** What stands on the other side of a client: a process or an endpoint. */
export interface SdkPeer {
  readonly transport: Transport;
  /** Why the connection ended, once it has. */
  readonly endReason: () => string;
  /** What the server wants the user to authorize; null for nothing. */
  readonly needsAuth: () => string | null;
  readonly hadSession: () => boolean;
  /** Idempotent, never rejects. */
  readonly close: () => Promise<void>;
}

// The SDK's own schemas refuse a whole list, or a whole result, for one odd member. Ours take anything that has the
// outer shape; each member is judged where it is used (field H8, H20).
const anyObject = z.looseObject({});
const pageSchema = (key: string) =>
  z.looseObject({ [key]: z.array(z.unknown()), nextCursor: z.string().nullish() });

const LISTS = {
  tools: { method: 'tools/list', schema: pageSchema('tools') },
  resources: { method: 'resources/list', schema: pageSchema('resources') },
  resourceTemplates: { method: 'resources/templates/list', schema: pageSchema('resourceTemplates') },
} as const;

/** The limits of time are the caller's: the SDK must not end a request before them. */
export const NO_LIMIT = { timeout: 2 ** 31 - 1 } as const;

/** A connection over the SDK's client. */
export class SdkConnection implements McpConnection {
  readonly #client: Client;
  readonly #peer: SdkPeer;
  #closing: Promise<void> | null = null;

  constructor(client: Client, peer: SdkPeer) {
    this.#client = client;
    this.#peer = peer;
  }

  get isClosing(): boolean {
    return this.#closing !== null;
  }

  get offers(): McpConnection['offers'] {
    const { tools, resources } = this.#client.getServerCapabilities() ?? {};
    return { tools: tools !== undefined, resources: resources !== undefined };
  }

  async list(kind: ListKind, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
    const { method, schema } = LISTS[kind];
    const params = cursor === undefined ? {} : { cursor };
    const result = await this.#guarded(signal, (own) =>
      this.#client.request({ method, params }, schema, { ...NO_LIMIT, signal: own }),
    );
    const { nextCursor } = result;
    const items = result[kind] as readonly unknown[];
    return typeof nextCursor === 'string' ? { items, nextCursor } : { items };
  }

  async call({ tool, args }: ServerCall, { progress }: CallHooks, signal: AbortSignal): Promise<JsonObject> {
    const params = { name: tool, arguments: args as Record<string, unknown> };
    const result = await this.#guarded(signal, (own) =>
      this.#client.request({ method: 'tools/call', params }, anyObject, {
        ...NO_LIMIT,
        signal: own,
        onprogress: (told) => {
          const { total, message } = told;
          progress({
            progress: told.progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          });
        },
      }),
    );
    return result as JsonObject;
  }

  async read(uri: string, signal: AbortSignal): Promise<JsonObject> {
    const request = { method: 'resources/read', params: { uri } } as const;
    const result = await this.#guarded(signal, (own) =>
      this.#client.request(request, anyObject, { ...NO_LIMIT, signal: own }),
    );
    return result as JsonObject;
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#guarded(signal, (own) => this.#client.ping({ ...NO_LIMIT, signal: own }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#peer.close();
    return this.#closing;
  }

  /** The SDK never takes its listener off a signal, and would cancel a request that has long been answered. */
  async #guarded<Result>(
    signal: AbortSignal,
    request: (own: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const own = new AbortController();
    const onAbort = (): void => own.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await request(own.signal);
    } catch (error) {
      signal.throwIfAborted();
      throw faultOf(error, this.#peer);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
