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

  it.each([
    ['openai', 'gpt-5.4-2026-03-05', [272_000, 2, 1.5]],
    ['azure', 'gpt-6.2-sol', [272_000, 2, 1.5]],
    ['openai', 'gpt-5.4-mini', undefined],
    ['openai', 'gpt-5', undefined],
    ['openrouter', 'x-ai/grok-4.7', [200_000, 2, 2]],
    ['google', 'gemini-3.1-pro-preview', [200_000, 2, 1.5]],
    ['google', 'gemini-3.8-flash', undefined],
    ['amazon-bedrock', 'eu.anthropic.claude-haiku-5-5', [100_000, 5, 5]],
    ['amazon-bedrock', 'anthropic.claude-sonnet-5-5', undefined],
  ])('tell what %s adds for a long prompt to %s [SES-10]', (provider, model, expected) => {
    const { overTokens, inputFactor, outputFactor } =
      modelFacts(provider, model, nothing).pricing?.longPrompt ?? {};
    const found = overTokens === undefined ? undefined : [overTokens, inputFactor, outputFactor];
    expect(found).toEqual(expected);
  });

  it('add nothing to a price of the settings, and to none [SES-10]', () => {
    const pricing = { input: 1, output: 2 };
    expect(modelFacts('xai', 'grok-4.7', { settings: { pricing }, refreshed: {} }).pricing).toEqual(pricing);
    const refreshed = { xai: { 'grok-4.7': { pricing } } };
    expect(modelFacts('xai', 'grok-4.7', { settings: {}, refreshed }).pricing).toMatchObject({
      ...pricing,
      longPrompt: { overTokens: 200_000 },
    });
    expect(modelFacts('local', 'grok-4.7', nothing)).not.toHaveProperty('pricing');
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
