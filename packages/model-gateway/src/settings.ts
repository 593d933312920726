import type { Modality, ModelMediaLimits, ModelPricing } from '@agentd/contract';

/** The wires that this package speaks, and the scripted model (CFG-6). */
export const ADAPTORS = [
  'openai-compatible',
  'openai-chat',
  'openai-responses',
  'anthropic',
  'anthropic-compatible',
  'google-gemini',
  'google-vertex-gemini',
  'aws-bedrock-converse',
  'azure-openai-chat',
  'azure-openai-responses',
  'cohere-v2-chat',
  'scripted',
] as const;

export type AdaptorId = (typeof ADAPTORS)[number];

/** What is known of one model. What is absent comes from the table of known models, or is a careful guess. */
export interface ModelSettings {
  readonly input?: readonly Modality[] | undefined;
  /** The whole window, in tokens. */
  readonly contextTokens?: number | undefined;
  /** The longest answer, in tokens. */
  readonly outputTokens?: number | undefined;
  /** Azure deployments with names of their own: whether the model reasons. */
  readonly reasoning?: boolean | undefined;
  /** Limits that the model has for media (MED-4, MED-6). */
  readonly media?: ModelMediaLimits | undefined;
  /** US dollars a million tokens. */
  readonly pricing?: ModelPricing | undefined;
}

/** What the clouds want to know beside an address and a key. `PLATFORM_FIELDS` says which adaptor takes which. */
export interface PlatformSettings {
  /** A bearer token in place of a key: Google Cloud, Microsoft Entra. It is sent as it is and never renewed. */
  readonly accessToken?: string | undefined;
  /** AWS region, e.g. `eu-central-1`. */
  readonly region?: string | undefined;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  /** Azure: the first label of `NAME.openai.azure.com`. */
  readonly resourceName?: string | undefined;
  /** Azure: `v1` (as without it), `preview`, or a date such as `2025-04-01-preview` for the older addresses. */
  readonly apiVersion?: string | undefined;
  /** Google Cloud project. */
  readonly project?: string | undefined;
  /** Google Cloud location, e.g. `europe-west4`; `global` without it. */
  readonly location?: string | undefined;
}

/** One provider, with every `${env:…}` already replaced by its value. */
export interface ProviderSettings extends PlatformSettings {
  readonly adaptor: AdaptorId;
  /** Up to and with the version, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For `scripted`: the path of the script. */
  readonly script?: string | undefined;
  readonly models?: Readonly<Record<string, ModelSettings>> | undefined;
}

const BEDROCK: readonly AdaptorId[] = ['aws-bedrock-converse'];
const AZURE: readonly AdaptorId[] = ['azure-openai-responses', 'azure-openai-chat'];
const VERTEX: readonly AdaptorId[] = ['google-vertex-gemini'];

/** Which adaptors take which platform setting; any other pairing is a mistake (CFG-2). */
export const PLATFORM_FIELDS: Readonly<Record<keyof PlatformSettings, readonly AdaptorId[]>> = {
  accessToken: [...VERTEX, ...AZURE],
  region: BEDROCK,
  accessKeyId: BEDROCK,
  secretAccessKey: BEDROCK,
  sessionToken: BEDROCK,
  resourceName: AZURE,
  apiVersion: AZURE,
  project: VERTEX,
  location: VERTEX,
};
