import type { ModelPricing } from '@agentd/contract';

type LongPrompt = NonNullable<ModelPricing['longPrompt']>;

const surcharge = (overTokens: number, inputFactor: number, outputFactor: number): LongPrompt => ({
  overTokens,
  inputFactor,
  outputFactor,
});

/** What providers add for long prompts, by model, as public tables had it in November 2026. The first that fits holds. */
const LONG_PROMPTS: readonly (readonly [models: RegExp, LongPrompt])[] = [
  [/(?:^|\/)gpt-5\.(?:[45](?:-pro)?|6-(?:luna|sol|terra))$/, surcharge(272_000, 2, 1.5)],
  [/(?:^|[/.])gpt-6(?:\.\d)?-(?:astra|luna|sol|terra)$/, surcharge(272_000, 2, 1.5)],
  [/(?:^|\/)gemini-(?:2\.5-pro|3\.1-pro-preview|pro-latest)$/, surcharge(200_000, 2, 1.5)],
  [/(?:^|\/)grok-4\.\d$/, surcharge(200_000, 2, 2)],
  [/claude-haiku-5[-.]5$/, surcharge(100_000, 5, 5)],
  [/^anthropic\/claude-sonnet-4\.5$/, surcharge(200_000, 2, 1.5)],
];

/** What a provider adds for long prompts to a model; undefined where it adds nothing that is known. */
export function longPromptOf(model: string): LongPrompt | undefined {
  const bare = model.replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
  return LONG_PROMPTS.find(([models]) => models.test(bare))?.[1];
}
