import type { MediaKind, Modality, ModelMediaLimits, ModelPricing } from '@agentd/contract';
import type { ModelSettings } from '../settings.ts';
import { longPromptOf } from './long-prompts.ts';
import { BUILT_IN, lookUp, mediaOfProvider, type ModelCatalogue } from './known-models.ts';

/** Where a fact comes from, the first that has it: settings, a refreshed catalogue, the table of this package, a guess. */
export type FactSource = 'settings' | 'refreshed' | 'built-in' | 'guess';

type FactName = 'input' | 'contextTokens' | 'outputTokens' | 'pricing' | 'media';

/** What is known of one model. */
export interface ModelFacts {
  readonly input: readonly Modality[];
  /** The whole window, in tokens. */
  readonly contextTokens: number;
  /** The longest answer, in tokens. */
  readonly outputTokens: number;
  /** US dollars a million tokens; absent when unknown. */
  readonly pricing?: ModelPricing;
  /** What the model or its provider says of single kinds; the rest is its family's. */
  readonly media?: ModelMediaLimits;
  /** Absent for what nobody says. */
  readonly from: Readonly<Partial<Record<FactName, FactSource>>>;
}

export interface FactSources {
  /** What the settings say of this model. */
  readonly settings: ModelSettings;
  /** What `readModelsDev` made of the public catalogue. */
  readonly refreshed: ModelCatalogue;
}

/** What is taken for a model that nobody has described: enough for current models, small enough for most servers. */
const GUESS = { input: ['text'] as const, contextTokens: 128_000, outputTokens: 8192 };

type Source = readonly [from: FactSource, facts: ModelSettings];

/** Puts together, fact by fact, what is known of a model (CFG-5). */
export function modelFacts(
  provider: string,
  model: string,
  { settings, refreshed }: FactSources,
): ModelFacts {
  const sources: readonly Source[] = [
    ['settings', settings],
    ['refreshed', lookUp(refreshed, provider, model)],
    ['built-in', lookUp(BUILT_IN, provider, model)],
    ['guess', GUESS],
  ];
  const { input = GUESS.input, contextTokens = GUESS.contextTokens, ...rest } = firstOf(sources);
  const { outputTokens = GUESS.outputTokens, ...others } = rest;
  const { pricing } = others;
  const media = mediaOf(provider, settings.media ?? {});
  const from = { ...others.from, ...media.from };
  const reply = from.outputTokens === 'settings' ? outputTokens : withRoom(outputTokens, contextTokens);
  const prices = from.pricing === 'settings' ? {} : withLongPrompt(pricing, model);
  return { ...others, ...prices, ...media.limits, input, contextTokens, outputTokens: reply, from };
}

/** Each fact from the first source that has it. */
function firstOf(sources: readonly Source[]): Partial<Omit<ModelFacts, 'from'>> & Pick<ModelFacts, 'from'> {
  const found = FACTS.flatMap((name) => {
    const source = sources.find(([, facts]) => facts[name] !== undefined);
    return source === undefined ? [] : [[name, source] as const];
  });
  const facts = Object.fromEntries(found.map(([name, [, facts]]) => [name, facts[name]]));
  return { ...facts, from: Object.fromEntries(found.map(([name, [from]]) => [name, from])) };
}

const FACTS = ['input', 'contextTokens', 'outputTokens', 'pricing'] as const satisfies readonly FactName[];

/** What is said of a short prompt alone, with what a long one costs. */
function withLongPrompt(pricing: ModelPricing | undefined, model: string): Pick<ModelFacts, 'pricing'> {
  const longPrompt = longPromptOf(model);
  return pricing === undefined || longPrompt === undefined ? {} : { pricing: { ...pricing, longPrompt } };
}

/** Tables give some models an answer as long as their window, which would leave no room for a question. */
function withRoom(outputTokens: number, contextTokens: number): number {
  return Math.min(outputTokens, Math.max(1, Math.floor(contextTokens / 2)));
}

/** What the provider says of media, and the settings over it, field by field. */
function mediaOf(
  provider: string,
  own: ModelMediaLimits,
): { readonly limits?: Pick<ModelFacts, 'media'>; readonly from?: ModelFacts['from'] } {
  const usual = mediaOfProvider(provider);
  const kinds = [...new Set([...Object.keys(usual), ...Object.keys(own)])] as MediaKind[];
  if (kinds.length === 0) return {};
  const media = Object.fromEntries(kinds.map((kind) => [kind, { ...usual[kind], ...own[kind] }]));
  return { limits: { media }, from: { media: Object.keys(own).length > 0 ? 'settings' : 'built-in' } };
}
