import type { Modality, ModelMediaLimits } from '@agentd/contract';
import type { ModelSettings } from '../settings.ts';
import type { ModelRow } from './model-row.ts';
import { ROWS_OF_BEDROCK } from './rows-of-bedrock.ts';
import { ROWS_OF_HOSTS } from './rows-of-hosts.ts';
import { ROWS_OF_LABS } from './rows-of-labs.ts';

/** Facts of models, by provider id and model id. */
export type ModelCatalogue = Readonly<Record<string, Readonly<Record<string, ModelSettings>>>>;

/** The table that ships with this package (CFG-5). Settings and a refreshed catalogue win over it. */
export const BUILT_IN: ModelCatalogue = Object.fromEntries(
  Object.entries({
    ...ROWS_OF_LABS,
    'google-vertex': (ROWS_OF_LABS['google'] ?? []).filter(([id]) => /^gemini-\d/.test(id)),
    // Deployments have names of their owners' choice; most choose that of the model.
    azure: ROWS_OF_LABS['openai'] ?? [],
    'amazon-bedrock': ROWS_OF_BEDROCK,
    ...ROWS_OF_HOSTS,
  }).map(([provider, rows]) => [provider, Object.fromEntries(rows.map(settingsOf))]),
);

const MIB = 1024 * 1024;

/** Where a provider takes less than its wire carries, or fewer than is usual (MED-4, MED-6). */
const MEDIA_OF_PROVIDERS: Readonly<Record<string, ModelMediaLimits>> = {
  'amazon-bedrock': { pdf: { maxCount: 5 } },
  xai: { image: { maxBytes: 10 * MIB } },
  groq: { image: { maxBase64Bytes: 4_000_000 } },
};

/** What a provider takes of media, where it says so for all of its models. */
export function mediaOfProvider(provider: string): ModelMediaLimits {
  return Object.hasOwn(MEDIA_OF_PROVIDERS, provider) ? (MEDIA_OF_PROVIDERS[provider] ?? {}) : {};
}

/** Models are also called by the day of their release, or as the latest of their name. */
const RELEASE = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** Bedrock: where requests may be served. Anthropic's prices are the same in each region, those of others are not. */
const REGION = /^(?:us|us-gov|eu|apac|jp|au|ca|in|global)\./;

/** What a catalogue knows of a model; nothing is an empty object. */
export function lookUp(catalogue: ModelCatalogue, provider: string, model: string): ModelSettings {
  const models = Object.hasOwn(catalogue, provider) ? (catalogue[provider] ?? {}) : {};
  const find = (id: string): ModelSettings | undefined =>
    Object.hasOwn(models, id) ? models[id] : undefined;
  const found = find(model) ?? find(model.replace(RELEASE, ''));
  if (found !== undefined || provider !== 'amazon-bedrock') return found ?? {};
  const anywhere = model.replace(REGION, '');
  const { pricing, ...facts } = find(anywhere) ?? {};
  return anywhere.startsWith('anthropic.') ? { ...facts, pricing } : facts;
}

function settingsOf([id, kinds, contextTokens, outputTokens, prices]: ModelRow) {
  const input = `text ${kinds}`.trim().split(' ') as Modality[];
  if (prices === undefined) return [id, { input, contextTokens, outputTokens }] as const;
  const [inputPrice, output, cacheRead, cacheWrite] = prices;
  const pricing = {
    input: inputPrice,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
  return [id, { input, contextTokens, outputTokens, pricing }] as const;
}
