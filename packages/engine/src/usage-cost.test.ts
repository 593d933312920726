import { describe, expect, it } from '@jest/globals';
import type { ModelUsage } from '@agentd/contract';
import { costOf } from './usage-cost.ts';

const usage: ModelUsage = {
  input_tokens: 1_000_000,
  output_tokens: 200_000,
  cache_read_tokens: 600_000,
  cache_write_tokens: 100_000,
  reasoning_tokens: 50_000,
};

describe('costOf', () => {
  it('prices cached input apart from fresh input, and reasoning as the output it is part of [SES-10]', () => {
    const pricing = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    expect(costOf(usage, pricing)).toBeCloseTo(0.3 * 3 + 0.6 * 0.3 + 0.1 * 3.75 + 0.2 * 15, 10);
  });

  it('takes the price of input where a cache has none of its own [SES-10]', () => {
    expect(costOf(usage, { input: 3, output: 15 })).toBeCloseTo(3 + 3, 10);
  });

  it('asks more for the whole of a request whose prompt is long [SES-10]', () => {
    const longPrompt = { overTokens: 1_000_000, inputFactor: 2, outputFactor: 1.5 };
    const pricing = { input: 3, output: 15, cacheRead: 0.3, longPrompt };
    const short = 0.3 * 3 + 0.6 * 0.3 + 0.1 * 3;
    expect(costOf(usage, pricing)).toBeCloseTo(short + 3, 10);
    const longer = { ...usage, input_tokens: 1_000_001 };
    expect(costOf(longer, pricing)).toBeCloseTo((short + 3e-6) * 2 + 3 * 1.5, 10);
  });

  it('knows no cost without prices [SES-10]', () => {
    expect(costOf(usage, undefined)).toBeNull();
  });

  it('never goes below zero for a provider that counts cached tokens apart', () => {
    const odd = { ...usage, input_tokens: 0, output_tokens: 0 };
    expect(costOf(odd, { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 })).toBe(0);
  });
});
