import type { ModelPricing, ModelUsage } from '@agentd/contract';

const TOKENS_OF_A_PRICE = 1_000_000;

/**
 * What a turn cost in US dollars; null when the prices are not known (SES-10).
 * `input_tokens` includes what a cache served or took; a cache without a price of its own costs what input costs.
 */
export function costOf(usage: ModelUsage, pricing: ModelPricing | undefined): number | null {
  if (pricing === undefined) return null;
  const { cache_read_tokens: read, cache_write_tokens: written } = usage;
  const plain = Math.max(0, usage.input_tokens - read - written);
  const prompt =
    plain * pricing.input +
    read * (pricing.cacheRead ?? pricing.input) +
    written * (pricing.cacheWrite ?? pricing.input);
  const { inputFactor, outputFactor } = factorsOf(usage, pricing);
  return (prompt * inputFactor + usage.output_tokens * pricing.output * outputFactor) / TOKENS_OF_A_PRICE;
}

/** Some providers ask more for the whole request where its prompt is long. */
function factorsOf({ input_tokens: prompt }: ModelUsage, { longPrompt }: ModelPricing) {
  const isLong = longPrompt !== undefined && prompt > longPrompt.overTokens;
  return isLong ? longPrompt : { inputFactor: 1, outputFactor: 1 };
}
