import type { Clock, JsonObject, MediaGate } from '@agentd/contract';
import type { HttpTarget, ServerTarget } from './settings.ts';

/** Everything that the bridge asks of others. */
export interface McpBridgePorts {
  readonly clock: Clock;
  readonly connector: McpConnector;
  /** Judges media of results (MED-8); null leaves notes in their place. */
  readonly media: MediaGate | null;
  /** Tool lists of earlier connections; null keeps none, and lazy servers are eager once in each process. */
  readonly lists: ToolListCache | null;
  /** Hears of each server that fails or needs the user, in one line. Contract: never throws. */
  readonly problem?: (server: string, problem: string) => void;
}

/** Opens connections to servers. The bridge calls it; `sdkConnector` implements it. */
export interface McpConnector {
  /**
   * Contract: resolves once the server is initialized; rejects with an `McpErrorCode` and leaves no process and no
   * socket behind then, nor when the signal aborts.
   */
  readonly connect: (
    server: NamedTarget,
    hooks: ConnectionHooks,
    signal: AbortSignal,
  ) => Promise<McpConnection>;
  /**
   * Lets the user authorize us. Contract: resolves once tokens are stored; rejects with `MCP_USAGE` where the server
   * asks for no authorization, and with `MCP_NEEDS_AUTH` where the user or the authorization server refuses.
   */
  readonly authorize: (
    server: NamedTarget<HttpTarget>,
    interaction: AuthorizationInteraction,
    signal: AbortSignal,
  ) => Promise<void>;
}

export interface NamedTarget<Target extends ServerTarget = ServerTarget> {
  readonly name: string;
  readonly target: Target;
}

/** How a user gets to the page of an authorization server. */
export interface AuthorizationInteraction {
  /** Shows or opens the address. Contract: resolves at once; the answer comes to our loopback address. */
  readonly open: (url: URL) => Promise<void>;
}

/** What a connection tells while it lives. Contract of the implementer: never throws. */
export interface ConnectionHooks {
  readonly toolsChanged: () => void;
  /** Once, however the connection ended; not after `close`. */
  readonly closed: (reason: string) => void;
  /** A line of the server's stderr, or noise on its stdout (MCP-7). */
  readonly log: (line: string) => void;
}

export interface CallHooks {
  readonly progress: (progress: ServerProgress) => void;
}

export interface ServerProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor?: string;
}

export type ListKind = 'tools' | 'resources' | 'resourceTemplates';

/**
 * One initialized connection. Contract: every request settles soon after its signal aborts, tells the server of that,
 * and rejects with an `McpErrorCode`; what servers send is handed on unjudged.
 */
export interface McpConnection {
  readonly offers: { readonly tools: boolean; readonly resources: boolean };
  readonly list: (kind: ListKind, cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  readonly call: (call: ServerCall, hooks: CallHooks, signal: AbortSignal) => Promise<JsonObject>;
  /** Resolves with the raw `resources/read` result. */
  readonly read: (uri: string, signal: AbortSignal) => Promise<JsonObject>;
  readonly ping: (signal: AbortSignal) => Promise<void>;
  /** Ends the connection, the process and everything that it started. Idempotent, never rejects. */
  readonly close: () => Promise<void>;
}

export interface ServerCall {
  /** The name as the server knows it. */
  readonly tool: string;
  readonly args: JsonObject;
}

/** Remembers what servers offered. Contract: never rejects; what is damaged counts as missing. */
export interface ToolListCache {
  readonly read: (server: NamedTarget) => Promise<readonly unknown[] | null>;
  readonly write: (server: NamedTarget, tools: readonly unknown[]) => Promise<void>;
}
