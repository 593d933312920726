import type { JsonObject, Modality, ModelPricing } from '@agentd/contract';

/** The wires that this package speaks, and the scripted model (CFG-6). */
export const ADAPTORS = ['anthropic', 'openai-compatible', 'scripted'] as const;

export type AdaptorId = (typeof ADAPTORS)[number];

/** What is known of one model. What is absent comes from the table of known models, or is a careful guess. */
export interface ModelSettings {
  readonly input?: readonly Modality[] | undefined;
  /** The whole window, in tokens. */
  readonly contextTokens?: number | undefined;
  /** The longest answer, in tokens. */
  readonly outputTokens?: number | undefined;
  /** Limits of media; this package only carries them. */
  readonly media?: JsonObject | undefined;
  /** US dollars a million tokens. */
  readonly pricing?: ModelPricing | undefined;
}

/** One provider, with every `${env:…}` already replaced by its value. */
export interface ProviderSettings {
  readonly adaptor: AdaptorId;
  /** Up to and with the version, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For `scripted`: the path of the script. */
  readonly script?: string | undefined;
  readonly models?: Readonly<Record<string, ModelSettings>> | undefined;
}
