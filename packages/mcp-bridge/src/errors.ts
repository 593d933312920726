import { AgentdError, type AgentdErrorInit } from '@agentd/contract';

/** Why a server cannot be used, or a request of ours failed. */
export type McpErrorCode =
  /** The user must act: authorize, or authorize for more. */
  | 'MCP_NEEDS_AUTH'
  /** The server no longer knows our session; nothing ran. */
  | 'MCP_SESSION_EXPIRED'
  /** The connection ended: the process exited, or the peer went away. */
  | 'MCP_CLOSED'
  /** No connection came about: no such command, nobody listens, no MCP endpoint. */
  | 'MCP_UNREACHABLE'
  /** The server answered with a JSON-RPC error. */
  | 'MCP_REMOTE'
  /** One answer was larger than a message may be; the connection goes on. */
  | 'MCP_OVERSIZED'
  /** The server broke the protocol. */
  | 'MCP_PROTOCOL'
  /** A limit of time passed. */
  | 'MCP_TIMEOUT'
  /** What was asked of the bridge itself makes no sense here. */
  | 'MCP_USAGE';

export function mcpError(
  code: McpErrorCode,
  message: string,
  init?: AgentdErrorInit,
): AgentdError<McpErrorCode> {
  return new AgentdError(code, message, init);
}
