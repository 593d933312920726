/** Where a server stands (MCP-1). */
export type ServerState = 'connecting' | 'connected' | 'failed' | 'needs_auth' | 'disabled' | 'lazy';

export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  /** How many tools are known of it, from now or from an earlier connection. */
  readonly tools: number;
  /** Why it failed, or what the user must do; null where all is well. One line. */
  readonly problem: string | null;
  /** What could not be taken over from its tools, one line each (MCP-5). */
  readonly diagnostics: readonly string[];
  /** Its last words on stderr (MCP-7). */
  readonly log: readonly string[];
}
