import type { AdaptorId, PlatformSettings } from './settings.ts';

type WireId = Exclude<AdaptorId, 'scripted'>;

/** A provider that needs no settings when its usual key variable is set (CFG-5). */
export interface WellKnownProvider {
  /** The adaptor that is taken without settings, then others that speak to the same address with the same key. */
  readonly adaptors: readonly [WireId, ...WireId[]];
  /** Absent where the adaptor has a usual address of its own, or makes one of the other fields. */
  readonly baseUrl?: string;
  /** The usual environment variables for its key; the first that is set counts. */
  readonly keyVariables: readonly string[];
  /** The usual environment variables for what else its adaptor needs. */
  readonly variables?: Readonly<Partial<Record<keyof PlatformSettings, readonly string[]>>>;
  /** What else gives access, in words. */
  readonly otherWay?: string;
  /** The model of a run that names none (CFG-4); absent where models have names of their owners' choice. */
  readonly defaultModel?: string;
  /** The request field for the longest answer over `openai-compatible`, where it is not `max_tokens`. */
  readonly outputLimitField?: 'max_completion_tokens';
}

/** In the order in which a default is looked for. Base URLs, variables and default models as of 2026-12-01. */
export const WELL_KNOWN: Readonly<Record<string, WellKnownProvider>> = {
  anthropic: {
    adaptors: ['anthropic'],
    keyVariables: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
  },
  openai: {
    adaptors: ['openai-responses', 'openai-chat', 'openai-compatible'],
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-6.2-sol',
    outputLimitField: 'max_completion_tokens',
  },
  google: {
    adaptors: ['google-gemini'],
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    defaultModel: 'gemini-3.8-flash',
  },
  'google-vertex': {
    adaptors: ['google-vertex-gemini'],
    keyVariables: ['GOOGLE_VERTEX_API_KEY'],
    variables: {
      project: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'],
      location: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'],
    },
    otherWay: 'GOOGLE_VERTEX_PROJECT (with Application Default Credentials)',
    defaultModel: 'gemini-3.8-flash',
  },
  'amazon-bedrock': {
    adaptors: ['aws-bedrock-converse'],
    keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
    variables: {
      region: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
      accessKeyId: ['AWS_ACCESS_KEY_ID'],
      secretAccessKey: ['AWS_SECRET_ACCESS_KEY'],
      sessionToken: ['AWS_SESSION_TOKEN'],
    },
    otherWay: 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    defaultModel: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
  },
  azure: {
    adaptors: ['azure-openai-responses', 'azure-openai-chat'],
    keyVariables: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
    variables: { resourceName: ['AZURE_RESOURCE_NAME'] },
  },
  cohere: {
    adaptors: ['cohere-v2-chat'],
    keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    defaultModel: 'command-a-03-2025',
  },
  openrouter: openai('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'anthropic/claude-sonnet-5.5'),
  deepseek: openai('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY', 'deepseek-v4-pro'),
  mistral: openai('https://api.mistral.ai/v1', 'MISTRAL_API_KEY', 'mistral-large-latest'),
  xai: openai('https://api.x.ai/v1', 'XAI_API_KEY', 'grok-4.7'),
  moonshot: openai('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY', 'kimi-k2.6'),
  groq: openai('https://api.groq.com/openai/v1', 'GROQ_API_KEY', 'openai/gpt-oss-120b'),
  cerebras: openai('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY', 'gpt-oss-120b'),
  together: openai('https://api.together.xyz/v1', 'TOGETHER_API_KEY', 'openai/gpt-oss-120b'),
  fireworks: openai(
    'https://api.fireworks.ai/inference/v1',
    'FIREWORKS_API_KEY',
    'accounts/fireworks/models/glm-5p3',
  ),
};

/** The provider that the table has under this id. */
export function wellKnown(provider: string): WellKnownProvider | undefined {
  return Object.hasOwn(WELL_KNOWN, provider) ? WELL_KNOWN[provider] : undefined;
}

function openai(baseUrl: string, keyVariable: string, defaultModel: string): WellKnownProvider {
  return { adaptors: ['openai-compatible'], baseUrl, keyVariables: [keyVariable], defaultModel };
}
