import type { Modality } from '@agentd/contract';
import type { ModelSettings } from './settings.ts';

const TEXT: readonly Modality[] = ['text'];
const SIGHTED: readonly Modality[] = ['text', 'image', 'pdf'];
const ALL: readonly Modality[] = ['text', 'image', 'pdf', 'audio', 'video'];

/**
 * Limits and list prices as public tables had them on 2026-12-01; the rows of google, google-vertex, amazon-bedrock and
 * cohere were held against no table. Settings win over this one; a model that is in neither gets `GUESS`.
 */
const KNOWN_MODELS: Readonly<Record<string, ModelSettings>> = {
  'anthropic/claude-sonnet-5-5': claude(1_000_000, 128_000, [2, 10, 0.1, 2.5]),
  'anthropic/claude-opus-5-5': claude(1_000_000, 128_000, [4, 20, 0.2, 5]),
  'anthropic/claude-sonnet-4-6': claude(1_000_000, 128_000),
  'anthropic/claude-opus-4-6': claude(1_000_000, 128_000),
  'anthropic/claude-opus-4-5': claude(200_000, 64_000, [5, 25, 0.5, 6.25]),
  'anthropic/claude-sonnet-4-5': claude(200_000, 64_000),
  'anthropic/claude-haiku-4-5': claude(200_000, 64_000, [1, 5, 0.1, 1.25]),
  'openai/gpt-5.6': {
    input: SIGHTED,
    contextTokens: 1_050_000,
    outputTokens: 128_000,
    pricing: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  },
  'openai/gpt-5.4': {
    input: SIGHTED,
    contextTokens: 272_000,
    outputTokens: 128_000,
    pricing: { input: 2.5, output: 15, cacheRead: 0.25 },
  },
  'google/gemini-3.8-flash': { input: ALL, contextTokens: 1_048_576, outputTokens: 65_536 },
  'google-vertex/gemini-3.8-flash': { input: ALL, contextTokens: 1_048_576, outputTokens: 65_536 },
  'amazon-bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0': claude(200_000, 64_000),
  'cohere/command-a-03-2025': {
    input: TEXT,
    contextTokens: 256_000,
    outputTokens: 8000,
    pricing: { input: 2.5, output: 10 },
  },
  'deepseek/deepseek-v4-pro': {
    input: TEXT,
    pricing: { input: 1.32, output: 3.96, cacheRead: 0.044 },
  },
  'moonshot/kimi-k2.6': {
    input: ['text', 'image', 'video'],
    contextTokens: 262_144,
    pricing: { input: 0.95, output: 4, cacheRead: 0.16 },
  },
  'xai/grok-4.7': { input: SIGHTED, pricing: { input: 2, output: 6, cacheRead: 0.5 } },
  'groq/openai/gpt-oss-120b': {
    input: TEXT,
    contextTokens: 131_072,
    outputTokens: 65_536,
    pricing: { input: 0.15, output: 0.6, cacheRead: 0.075 },
  },
  'cerebras/zai-glm-4.7': { input: TEXT, contextTokens: 131_072, outputTokens: 40_000 },
};

/** Models are also called by the day of their release, or as the latest of their name. */
const RELEASE = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** What the table knows of a model; nothing is an empty object. */
export function knownModel(provider: string, model: string): ModelSettings {
  const ids = [`${provider}/${model}`, `${provider}/${model.replace(RELEASE, '')}`];
  const id = ids.find((id) => Object.hasOwn(KNOWN_MODELS, id));
  return (id === undefined ? undefined : KNOWN_MODELS[id]) ?? {};
}

/** The models of a provider that the table names, without the provider. */
export function knownModelsOf(provider: string): string[] {
  const prefix = `${provider}/`;
  return Object.keys(KNOWN_MODELS)
    .filter((id) => id.startsWith(prefix))
    .map((id) => id.slice(prefix.length));
}

/** What is taken for a model that nobody has described: enough for current models, small enough for most servers. */
export const GUESS = { input: TEXT, contextTokens: 128_000, outputTokens: 8192 } as const;

function claude(
  contextTokens: number,
  outputTokens: number,
  prices?: readonly [input: number, output: number, cacheRead: number, cacheWrite: number],
): ModelSettings {
  const limits = { input: SIGHTED, contextTokens, outputTokens };
  if (prices === undefined) return limits;
  const [input, output, cacheRead, cacheWrite] = prices;
  return { ...limits, pricing: { input, output, cacheRead, cacheWrite } };
}
