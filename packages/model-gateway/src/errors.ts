import { AgentdError, type AgentdErrorInit } from '@agentd/contract';

export type GatewayErrorCode =
  /** The id is not `provider/model`, or names no model. */
  | 'GATEWAY_MODEL_UNKNOWN'
  /** No settings and no well-known provider have this id. */
  | 'GATEWAY_PROVIDER_UNKNOWN'
  /** The provider is known and its key is not there. */
  | 'GATEWAY_KEY_MISSING'
  /** The provider's settings cannot work: no or a bad base URL, no script. */
  | 'GATEWAY_SETTINGS_INVALID'
  /** The adaptor's package could not be loaded. */
  | 'GATEWAY_ADAPTOR_FAILED'
  /** The file of a scripted model cannot be read. */
  | 'GATEWAY_SCRIPT_UNREADABLE'
  /** The file of a scripted model breaks a rule; the text names file and line (SCR-1). */
  | 'GATEWAY_SCRIPT_INVALID';

export function gatewayError(
  code: GatewayErrorCode,
  message: string,
  init?: AgentdErrorInit,
): AgentdError<GatewayErrorCode> {
  return new AgentdError(code, message, init);
}
