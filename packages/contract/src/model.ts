import type { CallReport } from './tool.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Attachment, ModelMediaLimits } from './media.ts';
import { AgentdError, type AgentdErrorInit } from './errors.ts';

export type Modality = 'text' | 'image' | 'pdf' | 'audio' | 'video';

/** What a model is and takes. */
export interface ModelInfo {
  /** `provider/model`, as users write it. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /** The effective adaptor family, e.g. `anthropic`, `openai-compatible`. */
  readonly family: string;
  readonly input: readonly Modality[];
  readonly toolCalling: boolean;
  readonly contextTokens: number;
  readonly outputTokens: number;
  /** Limits that the model advertises for the kinds it takes (MED-4, MED-6). */
  readonly media?: ModelMediaLimits;
  /** US dollars a million tokens; absent when unknown (SES-10). */
  readonly pricing?: ModelPricing;
}

export interface ModelPricing {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** What each price is multiplied with where the whole prompt has more than `overTokens`. */
  readonly longPrompt?: {
    readonly overTokens: number;
    /** Of input, cached or not. */
    readonly inputFactor: number;
    readonly outputFactor: number;
  };
}

/**
 * A part of an assistant turn, in the one shape that events store, histories carry and adaptors read.
 * `provider_data` is opaque (signatures, item ids): it goes back to the model that made it unchanged, and to no other.
 */
export type AssistantPart =
  | { readonly type: 'text'; readonly text: string; readonly provider_data?: JsonObject }
  | { readonly type: 'reasoning'; readonly text: string; readonly provider_data?: JsonObject }
  | AssistantToolCall;

export interface AssistantToolCall {
  readonly type: 'tool_call';
  /** Valid for every provider (`[A-Za-z0-9_-]{1,64}`) and unique in its session. */
  readonly provider_call_id: string;
  readonly tool: string;
  /** The parsed arguments; an empty object where `raw_input` could not be parsed. */
  readonly input: JsonValue;
  /** What the model wrote, kept only where it is not valid JSON. */
  readonly raw_input?: string;
  readonly provider_data?: JsonObject;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly provider_call_id: string;
  readonly tool: string;
  readonly text: string;
  readonly is_error: boolean;
  /** Files that the call returned, in its order; absent for none (FS-12). */
  readonly attachments?: readonly Attachment[];
}

export interface UserPart {
  readonly type: 'text';
  readonly text: string;
}

/** A conversation. A step with calls is followed by exactly one `tool` message that answers all of them, in call order. */
export type ModelMessage =
  | {
      readonly role: 'user';
      readonly content: readonly UserPart[];
      /** Files that the user sent along; absent for none. */
      readonly attachments?: readonly Attachment[];
    }
  | {
      readonly role: 'assistant';
      /** `provider/model` that made the turn: reasoning goes back to it alone. */
      readonly model: string;
      readonly content: readonly AssistantPart[];
    }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] };

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** As in `ToolSpec`; an `anyOf` in it is merged where the model's family takes none. */
  readonly parameters: JsonObject;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly maxOutputTokens?: number;
  /** Files that this model refused before in this session, by SHA-256: notes go in their place (`details.refusedFiles`). */
  readonly refusedFiles?: readonly string[];
  /** For models that play a script or cache by session; no provider needs it. */
  readonly session: {
    readonly id: string;
    readonly agent: string;
    /** For each model turn committed so far, the reports of its calls in call order (SCR-2, SCR-3). */
    readonly turns: readonly (readonly CallReport[])[];
  };
}

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** Tokens of one turn (SES-10). */
/** Tokens of one turn. `input_tokens` is the whole prompt, cached tokens included; `output_tokens` includes reasoning (SES-10). */
export interface ModelUsage {
  /** All input, what was read from and written to a cache included. */
  readonly input_tokens: number;
  /** All output, reasoning included. */
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/** What one attempt streams. `id` ties the deltas of a part together; parts stand in the order of their first delta. */
export type ModelStreamPart =
  | {
      readonly type: 'text-delta';
      readonly id: string;
      readonly text: string;
      readonly providerData?: JsonObject;
    }
  | {
      readonly type: 'reasoning-delta';
      readonly id: string;
      readonly text: string;
      readonly providerData?: JsonObject;
    }
  | {
      readonly type: 'tool-call';
      /** The provider's own id as received: possibly empty, repeated or malformed (field I4). */
      readonly providerCallId: string;
      readonly tool: string;
      /** The arguments as the model wrote them: JSON or not (field I13). */
      readonly input: string;
      readonly providerData?: JsonObject;
    }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: ModelUsage };

/** Talks to one model. The engine calls it, the gateway implements it. */
export interface ModelClient {
  readonly info: ModelInfo;
  /**
   * One attempt at one turn. Contract: never retries; a turn is whole only if the last part is `finish`; every fault
   * is thrown as a model error (`isModelError`), an abort as the signal's reason; the connection closes on abort.
   */
  readonly stream: (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelStreamPart>;
}

/** Why a model attempt failed, as far as the engine must tell it apart (SES-9). */
export type ModelErrorCode =
  /** 429 and the like: try again, after the server's time where it gave one. */
  | 'MODEL_RATE_LIMIT'
  /** The provider is overloaded (529, 503): try again, more patiently. */
  | 'MODEL_OVERLOADED'
  /** 5xx, a connection that failed or broke off, a stream that was cut: try again. */
  | 'MODEL_UNAVAILABLE'
  /** The request is larger than the context. */
  | 'MODEL_CONTEXT_OVERFLOW'
  /** The key is missing, wrong or not allowed. */
  | 'MODEL_AUTH'
  /** Anything else that the provider refuses: trying again is of no use. */
  | 'MODEL_REFUSED';

const MODEL_ERROR_CODES: ReadonlySet<string> = new Set<ModelErrorCode>([
  'MODEL_RATE_LIMIT',
  'MODEL_OVERLOADED',
  'MODEL_UNAVAILABLE',
  'MODEL_CONTEXT_OVERFLOW',
  'MODEL_AUTH',
  'MODEL_REFUSED',
]);

export interface ModelErrorInit extends AgentdErrorInit {
  /** The server's own time to wait, in ms. */
  readonly retryAfterMs?: number;
  readonly status?: number;
  /** Files, by SHA-256, without which the next attempt is to go: whoever keeps the history keeps them with it. */
  readonly refusedFiles?: readonly string[];
}

/** A failed model attempt. `details` holds what else `init` says, where known; never a request body or a key. */
export function modelError(
  code: ModelErrorCode,
  message: string,
  { retryAfterMs, status, refusedFiles, cause, details }: ModelErrorInit = {},
): AgentdError<ModelErrorCode> {
  return new AgentdError(code, message, {
    cause,
    details: {
      ...details,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(status === undefined ? {} : { status }),
      ...(refusedFiles === undefined ? {} : { refusedFiles }),
    },
  });
}

/** Whether `value` is a model error. */
export function isModelError(value: unknown): value is AgentdError<ModelErrorCode> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    MODEL_ERROR_CODES.has(String(value.code))
  );
}
