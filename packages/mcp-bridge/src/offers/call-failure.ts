import {
  codeOf,
  isAgentdError,
  messageOf,
  toolError,
  type AgentdError,
  type ToolErrorCode,
} from '@agentd/contract';
import type { McpErrorCode } from '../errors.ts';
import type { ManagedServer } from '../server/managed-server.ts';

interface FailedRequest {
  readonly server: Pick<ManagedServer, 'name' | 'log' | 'settings'>;
  /** The tool or resource that was asked for. */
  readonly what: string;
}

/** What a model reads of a call that got no result: what happened, and what would help (ERR-1). */
export function asToolError(error: unknown, { server, what }: FailedRequest): AgentdError {
  const code = codeOf(error);
  if (isAgentdError(error) && code?.startsWith('MCP_') !== true) return error;
  const subject = `MCP server ${server.name}, ${what}`;
  const text = `${subject}: ${messageOf(error)}${advice(code as McpErrorCode)}${lastWords(code, server)}`;
  return toolError(toolCode(code as McpErrorCode), text, { cause: error });
}

function toolCode(code: McpErrorCode): ToolErrorCode {
  switch (code) {
    case 'MCP_TIMEOUT':
      return 'timeout';
    case 'MCP_OVERSIZED':
      return 'resource_limit';
    default:
      return 'mcp_error';
  }
}

function advice(code: McpErrorCode): string {
  switch (code) {
    case 'MCP_TIMEOUT':
      return '; it may still be at work; its timeout_ms can be raised in the settings';
    case 'MCP_CLOSED':
      return '; it may have run in part; the next call starts the server again';
    case 'MCP_OVERSIZED':
      return '; ask for less at a time';
    default:
      return '';
  }
}

/** Why a program ended stands on its stderr, if anywhere. */
function lastWords(code: string | undefined, { log, settings }: FailedRequest['server']): string {
  if (settings.target.kind !== 'stdio') return '';
  if (code !== 'MCP_CLOSED' && code !== 'MCP_UNREACHABLE') return '';
  const words = log.lastWords();
  return words === '' ? '' : `; its last words: ${words}`;
}
