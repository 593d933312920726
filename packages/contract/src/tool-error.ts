import { AgentdError, type AgentdErrorInit } from './errors.ts';

/** Codes with which a tool call ends other than completed; a model reads them (ERR-1, WEB-15, MSG-5). */
export type ToolErrorCode =
  | 'invalid_arguments'
  | 'not_published'
  | 'permission_denied'
  | 'stale'
  | 'not_found'
  | 'edit_not_found'
  | 'edit_ambiguous'
  | 'not_supported'
  | 'resource_limit'
  | 'timeout'
  | 'signal'
  | 'cancelled'
  | 'interrupted'
  | 'execution_failed'
  | 'media_unsupported'
  | 'media_undeliverable'
  | 'media_too_large'
  | 'media_invalid'
  | 'artifact_missing'
  | 'artifact_corrupt'
  | 'artifact_uri'
  | 'mcp_error'
  | 'unknown_subagent'
  | 'delegation_full'
  | 'invalid_url'
  | 'redirect_error'
  | 'transport_error'
  | 'unsupported_content_type'
  | `send_message:${string}`;

/** What a terminal event records and a model reads. */
export interface ToolError {
  readonly code: ToolErrorCode;
  readonly message: string;
}

/** An error that ends a tool call. Write the message for a model that must repair its call. */
export function toolError(
  code: ToolErrorCode,
  message: string,
  init?: AgentdErrorInit,
): AgentdError<ToolErrorCode> {
  return new AgentdError(code, message, init);
}
