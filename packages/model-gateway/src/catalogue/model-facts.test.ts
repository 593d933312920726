import { describe, expect, it } from '@jest/globals';
import { modelFacts } from './model-facts.ts';

const nothing = { settings: {}, refreshed: {} };

describe('the facts of a model', () => {
  it('come one by one from the settings, then a refreshed catalogue, then the built-in one, then a guess [CFG-5]', () => {
    const refreshed = { anthropic: { 'claude-haiku-4-5': { contextTokens: 300_000, outputTokens: 70_000 } } };
    const settings = { outputTokens: 1000, input: undefined };
    expect(modelFacts('anthropic', 'claude-haiku-4-5', { settings, refreshed })).toEqual({
      input: ['text', 'image', 'pdf'],
      contextTokens: 300_000,
      outputTokens: 1000,
      pricing: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
      from: {
        input: 'built-in',
        contextTokens: 'refreshed',
        outputTokens: 'settings',
        pricing: 'built-in',
      },
    });
  });

  it('are a careful guess without a price for a model that nobody knows [CFG-5] [SES-10]', () => {
    expect(modelFacts('local', 'mine', nothing)).toEqual({
      input: ['text'],
      contextTokens: 128_000,
      outputTokens: 8192,
      from: { input: 'guess', contextTokens: 'guess', outputTokens: 'guess' },
    });
  });

  it('leave half of the window to the question, unless settings say otherwise', () => {
    const all = { contextTokens: 4096, outputTokens: 4096 };
    expect(modelFacts('moonshot', 'kimi-k3', nothing).outputTokens).toBe(524_288);
    const refreshed = { moonshot: { 'kimi-k3': all } };
    expect(modelFacts('moonshot', 'kimi-k3', { settings: {}, refreshed }).outputTokens).toBe(2048);
    expect(
      modelFacts('local', 'mine', { settings: { contextTokens: 4096 }, refreshed: {} }).outputTokens,
    ).toBe(2048);
    expect(modelFacts('local', 'mine', { settings: all, refreshed: {} }).outputTokens).toBe(4096);
  });

  it('hold what a provider says of media, and settings over it, field by field [MED-4] [MED-6]', () => {
    const nova = 'amazon.nova-pro-v1:0';
    const usual = modelFacts('amazon-bedrock', nova, nothing);
    expect([usual.media, usual.from.media]).toEqual([{ pdf: { maxCount: 5 } }, 'built-in']);
    const media = { pdf: { maxPages: 9 }, image: { maxBytes: 100 } };
    const own = modelFacts('amazon-bedrock', nova, { settings: { media }, refreshed: {} });
    expect([own.media, own.from.media]).toEqual([
      { pdf: { maxCount: 5, maxPages: 9 }, image: { maxBytes: 100 } },
      'settings',
    ]);
    expect(modelFacts('openai', 'gpt-5', nothing)).not.toHaveProperty('media');
  });
});
