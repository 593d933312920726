import { AgentdError, toolError, type AgentdErrorInit, type ToolErrorCode } from '@agentd/contract';

/** Faults of a program that uses the package. What a model can repair has a code of `SendRefusal`. */
export type MessagingErrorCode =
  /** A step that the state of the message does not allow, e.g. discarding what is claimed. */
  | 'MESSAGING_ILLEGAL_STEP'
  /** A draft with a missing, unknown or wrongly typed field, or a blank body. */
  | 'MESSAGING_DRAFT_INVALID';

export function messagingError(
  code: MessagingErrorCode,
  message: string,
  init?: AgentdErrorInit,
): AgentdError<MessagingErrorCode> {
  return new AgentdError(code, message, init);
}

/** Why a send is refused, in the order of the checks (MSG-5); a model reads it after `send_message:`. */
export type SendRefusal =
  | 'disabled'
  | 'invalid_arguments'
  | 'invalid_body'
  | 'unknown_session'
  | 'not_tree_peer'
  | 'self_send'
  | 'inbox_full'
  | 'max_hops_exceeded'
  | 'inflight_full'
  | 'engine_shutdown';

/** A refusal with what the model can do about it. */
export interface Refusal {
  readonly reason: SendRefusal;
  readonly message: string;
}

/** The error of a refused send. */
export function refusalError({ reason, message }: Refusal): AgentdError<ToolErrorCode> {
  return toolError(`send_message:${reason}`, message);
}
