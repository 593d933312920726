import type { Clock, ModelClient, ModelInfo } from '@agentd/contract';

/** Where requests go, and with what. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Where a user would mend the key, e.g. `OPENAI_API_KEY` or `api_key of [providers.local]`. */
  readonly keyHint: string;
  /** The request field for the longest answer, where it is not `max_tokens`. */
  readonly outputLimitField?: string | undefined;
}

/** All that an adaptor needs to make a client. */
export interface AdaptorSetup {
  readonly info: ModelInfo;
  /** Whether `info.outputTokens` is known; a guess is not sent where the wire can do without. */
  readonly outputLimitKnown: boolean;
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
}

/** A module behind one lazy import. */
export interface Adaptor {
  /** Contract: makes no request. */
  readonly open: (setup: AdaptorSetup) => ModelClient;
}
