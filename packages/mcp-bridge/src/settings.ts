/** A server that is a program of this machine. */
export interface StdioTarget {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the safe base of MCP-7. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}

/** A server behind Streamable HTTP. */
export interface HttpTarget {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null never authorizes: a 401 is then for the user to mend in `headers`. */
  readonly oauth: OAuthSettings | null;
}

export interface OAuthSettings {
  /** A client that is registered already; it goes before every other way (MCP-6). */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where the authorization server finds our client metadata document; https. */
  readonly clientMetadataUrl?: string;
  /** Asked for where the server itself names none. */
  readonly scope?: string;
  /** For authorization servers that insist on one redirect address; 0 takes any free port. */
  readonly callbackPort?: number;
}

export type ServerTarget = StdioTarget | HttpTarget;

export interface ServerSettings {
  readonly target: ServerTarget;
  readonly enabled: boolean;
  /** Published from the list of its last connection, and connected at first use (MCP-1). */
  readonly lazy: boolean;
  /** Bounds connecting, listing and each call; renewed by progress (MCP-4). */
  readonly timeoutMs: number;
}

export interface McpBridgeSettings {
  /** By name, in the user's order. */
  readonly servers: Readonly<Record<string, ServerSettings>>;
  /** What the first request waits at most for eager servers (MCP-1). */
  readonly startupWaitMs: number;
  /** More tool text than this is offered through search. */
  readonly toolTextBudgetTokens: number;
  /** Names that other tools have: they win (MCP-3). */
  readonly reservedNames: readonly string[];
}

export const DEFAULT_SERVER_TIMEOUT_MS = 30_000;
