import { codeOf, isAgentdError, messageOf, type AgentdError } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import { OVERSIZED_CODE } from '../stdio/stdio-transport.ts';
import type { SdkPeer } from './sdk-connection.ts';

/** Codes of JSON-RPC errors that the SDK makes up itself. */
const CONNECTION_CLOSED = -32_000;
const REQUEST_TIMEOUT = -32_001;

type Peer = Pick<SdkPeer, 'endReason' | 'needsAuth' | 'hadSession'>;

/**
 * What went wrong with a request, by what the SDK threw. The SDK's classes are told by their shape: an HTTP status, a
 * JSON-RPC code, or neither.
 */
export function faultOf(thrown: unknown, peer: Peer): AgentdError {
  if (isAgentdError(thrown)) return thrown;
  const auth = peer.needsAuth();
  if (auth !== null) return mcpError('MCP_NEEDS_AUTH', auth, { cause: thrown });
  const status = statusOf(thrown);
  if (status !== null) return httpFault(status, thrown, peer);
  const code = numericCodeOf(thrown);
  if (code !== null) return rpcFault(code, thrown, peer);
  if (messageOf(thrown) === 'Not connected') return mcpError('MCP_CLOSED', peer.endReason());
  return isNetworkFault(thrown)
    ? mcpError('MCP_UNREACHABLE', networkText(thrown), { cause: thrown })
    : mcpError('MCP_PROTOCOL', oneLine(messageOf(thrown)), { cause: thrown });
}

function httpFault(status: number, thrown: unknown, peer: Peer): AgentdError {
  const body = messageOf(thrown);
  // The specification says 404; servers in the field also say 410, or 400 with a word about the session (field H16).
  const isLost = status === 404 || status === 410 || (status === 400 && /session/i.test(body));
  if (isLost && peer.hadSession()) {
    return mcpError('MCP_SESSION_EXPIRED', `the session is gone (HTTP ${status})`, { cause: thrown });
  }
  if (status === 401) {
    return mcpError('MCP_NEEDS_AUTH', 'it answers 401: it wants credentials', { cause: thrown });
  }
  const what = status === -1 ? 'its answer is no MCP message: is the address right?' : `HTTP ${status}`;
  return mcpError('MCP_UNREACHABLE', `${what}: ${oneLine(body)}`, { cause: thrown });
}

function rpcFault(code: number, thrown: unknown, peer: Peer): AgentdError {
  const text = oneLine(messageOf(thrown)).replace(/^(?:MCP error -?\d+: )+/, '');
  if (code === OVERSIZED_CODE) return mcpError('MCP_OVERSIZED', text);
  if (code === CONNECTION_CLOSED && text === 'Connection closed') {
    return mcpError('MCP_CLOSED', peer.endReason(), { cause: thrown });
  }
  if (code === REQUEST_TIMEOUT) return mcpError('MCP_TIMEOUT', text, { cause: thrown });
  return mcpError('MCP_REMOTE', `${text} (code ${code})`, { cause: thrown, details: { code } });
}

/** `StreamableHTTPError` carries the HTTP status, or -1 for an answer of another kind, as its code. */
function statusOf(thrown: unknown): number | null {
  const code = numericCodeOf(thrown);
  return code !== null && code >= -1 && messageOf(thrown).startsWith('Streamable HTTP error') ? code : null;
}

function numericCodeOf(thrown: unknown): number | null {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return null;
  return typeof thrown.code === 'number' ? thrown.code : null;
}

function isNetworkFault(thrown: unknown): boolean {
  return (
    messageOf(thrown) === 'fetch failed' ||
    codeOf(thrown) !== undefined ||
    /terminated|disconnect/.test(messageOf(thrown))
  );
}

/** `fetch failed` tells nothing; its cause does. */
function networkText(thrown: unknown): string {
  const cause: unknown =
    typeof thrown === 'object' && thrown !== null && 'cause' in thrown ? thrown.cause : null;
  const code = codeOf(cause) ?? codeOf(thrown);
  if (code === 'ECONNREFUSED') return 'nobody listens there (connection refused)';
  if (code === 'ENOTFOUND') return 'there is no such host';
  return (
    oneLine(cause === null || cause === undefined ? messageOf(thrown) : messageOf(cause)) ||
    (code ?? 'the network failed')
  );
}

const LONGEST_TEXT = 500;

/** What a server wrote may be long, and of many lines. */
function oneLine(text: string): string {
  const flat = text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  return flat.length > LONGEST_TEXT ? `${flat.slice(0, LONGEST_TEXT)}…` : flat;
}
