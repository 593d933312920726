import { isAgentdError, messageOf, type ToolError, type ToolErrorCode } from '@agentd/contract';
import { cutToBytes } from './bounded-text.ts';

/** A longer error text would crowd the history; what a model needs stands at its start. */
const MAX_MESSAGE_BYTES = 16 * 1024;

/** Every code of ERR-1 that is spelled out; a record, so that a new one cannot be forgotten. */
const CODES: Readonly<Record<Exclude<ToolErrorCode, `send_message:${string}`>, true>> = {
  invalid_arguments: true,
  not_published: true,
  permission_denied: true,
  stale: true,
  not_found: true,
  edit_not_found: true,
  edit_ambiguous: true,
  not_supported: true,
  resource_limit: true,
  timeout: true,
  signal: true,
  cancelled: true,
  interrupted: true,
  execution_failed: true,
  media_unsupported: true,
  media_undeliverable: true,
  media_too_large: true,
  media_invalid: true,
  artifact_missing: true,
  artifact_corrupt: true,
  artifact_uri: true,
  mcp_error: true,
  unknown_subagent: true,
  delegation_full: true,
  invalid_url: true,
  redirect_error: true,
  transport_error: true,
  unsupported_content_type: true,
};

/** The error of a call whose tool threw `thrown`, which may be anything. Never throws (SCH-9). */
export function faultOf(tool: string, thrown: unknown): ToolError {
  const text = textOf(thrown);
  const code = toolErrorCode(thrown);
  return code === undefined
    ? callError('execution_failed', `${tool} failed: ${text}`)
    : callError(code, text);
}

/** An error as an event may store it: a known code, a bounded and well-formed message. */
export function callError(code: string, message: string): ToolError {
  return {
    code: isToolErrorCode(code) ? code : 'execution_failed',
    message: cutToBytes(message.toWellFormed(), MAX_MESSAGE_BYTES),
  };
}

function toolErrorCode(thrown: unknown): ToolErrorCode | undefined {
  try {
    return isAgentdError(thrown) && isToolErrorCode(thrown.code) ? thrown.code : undefined;
  } catch {
    return undefined; // a proxy or a getter that throws
  }
}

function isToolErrorCode(code: string): code is ToolErrorCode {
  return Object.hasOwn(CODES, code) || code.startsWith('send_message:');
}

function textOf(thrown: unknown): string {
  try {
    return messageOf(thrown);
  } catch {
    return 'it threw something that has no text';
  }
}
