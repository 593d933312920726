import { AgentdError, type AgentdErrorInit } from '@agentd/contract';

export type EngineErrorCode =
  /** No session has this id. */
  | 'ENGINE_SESSION_NOT_FOUND'
  /** Another process owns the session's tree (SES-4). */
  | 'ENGINE_SESSION_LOCKED'
  /** The first event cannot be read (SES-3). */
  | 'ENGINE_SESSION_DAMAGED'
  /** The disk refused while a session was made, opened or read: no space, no permission, a folder in place of a file. */
  | 'ENGINE_STORE_FAILED'
  /** The log can no longer be written. */
  | 'ENGINE_LOG_FAILED'
  /** A run is active in this session. */
  | 'ENGINE_RUN_ACTIVE'
  /** No run is active, or it is another one. */
  | 'ENGINE_RUN_NOT_ACTIVE'
  /** A call by hand names a `client_run_id` that has been used; nothing runs twice. */
  | 'ENGINE_RUN_ID_USED'
  /** A user said nothing but white space. */
  | 'ENGINE_INPUT_EMPTY'
  | 'ENGINE_AGENT_UNKNOWN'
  | 'ENGINE_MODEL_UNKNOWN'
  /** Two published tools share a name. */
  | 'ENGINE_TOOL_NAME_TAKEN'
  /** A tool broke its contract; its call ends as `execution_failed`, and nobody else sees this code (SCH-9). */
  | 'ENGINE_TOOL_BREACH'
  /** The engine is stopping. */
  | 'ENGINE_SHUTTING_DOWN';

export function engineError(
  code: EngineErrorCode,
  message: string,
  init?: AgentdErrorInit,
): AgentdError<EngineErrorCode> {
  return new AgentdError(code, message, init);
}
