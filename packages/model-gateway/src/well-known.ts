import type { AdaptorId } from './settings.ts';

/** A provider that needs no settings when its usual key variable is set (CFG-5). */
export interface WellKnownProvider {
  readonly adaptor: Exclude<AdaptorId, 'scripted'>;
  readonly baseUrl: string;
  /** The usual environment variables for its key; the first that is set counts. */
  readonly keyVariables: readonly string[];
  /** The model of a run that names none (CFG-4). */
  readonly defaultModel: string;
  /** The request field for the longest answer, where it is not `max_tokens`. */
  readonly outputLimitField?: 'max_completion_tokens';
}

/**
 * In the order in which a default is looked for. Base URLs, variables and default models as of 2026-12-01.
 * `openai` is spoken to over Chat Completions until it has an adaptor of its own.
 */
export const WELL_KNOWN: Readonly<Record<string, WellKnownProvider>> = {
  anthropic: {
    adaptor: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariables: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
  },
  openai: {
    adaptor: 'openai-compatible',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.6',
    outputLimitField: 'max_completion_tokens',
  },
  openrouter: openai('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'anthropic/claude-sonnet-5.5'),
  deepseek: openai('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY', 'deepseek-v4-pro'),
  mistral: openai('https://api.mistral.ai/v1', 'MISTRAL_API_KEY', 'mistral-large-latest'),
  xai: openai('https://api.x.ai/v1', 'XAI_API_KEY', 'grok-4.7'),
  moonshot: openai('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY', 'kimi-k2.6'),
  groq: openai('https://api.groq.com/openai/v1', 'GROQ_API_KEY', 'openai/gpt-oss-120b'),
  cerebras: openai('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY', 'zai-glm-4.7'),
  together: openai('https://api.together.xyz/v1', 'TOGETHER_API_KEY', 'openai/gpt-oss-120b'),
  fireworks: openai(
    'https://api.fireworks.ai/inference/v1',
    'FIREWORKS_API_KEY',
    'accounts/fireworks/models/gpt-oss-120b',
  ),
};

/** Keys of providers whose adaptors are still to come; commands must not see them either (BASH-2). */
export const OTHER_KEY_VARIABLES: readonly string[] = [
  'AZURE_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'COHERE_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
];

function openai(baseUrl: string, keyVariable: string, defaultModel: string): WellKnownProvider {
  return { adaptor: 'openai-compatible', baseUrl, keyVariables: [keyVariable], defaultModel };
}
