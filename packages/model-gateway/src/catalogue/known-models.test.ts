import { describe, expect, it } from '@jest/globals';
import { calcPrice } from '@pydantic/genai-prices';
import { MODEL_CONFIGS } from 'llm-zoo';
import { WELL_KNOWN } from '../well-known.ts';
import { BUILT_IN, lookUp } from './known-models.ts';
import { ROWS_OF_BEDROCK } from './rows-of-bedrock.ts';
import { ROWS_OF_HOSTS } from './rows-of-hosts.ts';
import { ROWS_OF_LABS } from './rows-of-labs.ts';

const models = Object.entries(BUILT_IN).flatMap(([provider, table]) =>
  Object.entries(table).map(([model, facts]) => ({ id: `${provider}/${model}`, provider, model, facts })),
);

describe('the built-in catalogue', () => {
  it('has models of every well-known provider, the default one among them [CFG-4] [CFG-5]', () => {
    expect(Object.keys(BUILT_IN).toSorted()).toEqual(Object.keys(WELL_KNOWN).toSorted());
    for (const [provider, { defaultModel }] of Object.entries(WELL_KNOWN)) {
      if (defaultModel === undefined) continue;
      expect([defaultModel, lookUp(BUILT_IN, provider, defaultModel).contextTokens]).toEqual([
        defaultModel,
        expect.any(Number),
      ]);
    }
  });

  it('names each model once, with a window, an answer that is no longer, and prices above zero [CFG-5] [SES-10]', () => {
    const tables = [...Object.entries({ ...ROWS_OF_LABS, ...ROWS_OF_HOSTS }), ['', ROWS_OF_BEDROCK] as const];
    for (const [, rows] of tables) expect(new Set(rows.map(([id]) => id)).size).toBe(rows.length);
    const wrong = models.filter(({ facts: { contextTokens = 0, outputTokens = 0, pricing } }) => {
      const isSmall = contextTokens < 32_000 || outputTokens < 4000 || outputTokens > contextTokens;
      return isSmall || Object.values(pricing ?? {}).some((price) => !(price > 0 && price < 1000));
    });
    expect(wrong).toEqual([]);
  });

  it('has prices as genai-prices has them, except where ours are newer [SES-10]', () => {
    const names: Readonly<Record<string, string>> = {
      'google-vertex': 'google',
      'amazon-bedrock': 'aws',
      moonshot: 'moonshotai',
      xai: 'x-ai',
    };
    const thousand = { input_tokens: 1000, output_tokens: 1000 };
    const compared = models.flatMap(({ id, provider, model, facts: { pricing } }) => {
      const theirs = calcPrice(thousand, model, {
        providerId: names[provider] ?? provider,
        // Some prices have dates, and some hours.
        timestamp: new Date('2026-11-30T12:00:00Z'),
      });
      if (theirs === null || pricing === undefined) return [];
      const [input = 0, output = 0] = [theirs.input_price, theirs.output_price].map((price) => price * 1000);
      const isSame = Math.abs(input - pricing.input) + Math.abs(output - pricing.output) < 1e-6;
      return [{ id, isSame }];
    });
    expect(compared.length).toBeGreaterThan(150);
    expect(compared.filter(({ isSame }) => !isSame).map(({ id }) => id)).toEqual([
      // The names now mean later models.
      'mistral/mistral-large-latest',
      'mistral/mistral-small-latest',
      // Dearer since October, on either.
      'deepseek/deepseek-v4-pro',
      // Dearer since November.
      'openrouter/openai/gpt-5.6-sol',
    ]);
  });

  it('has windows and kinds as llm-zoo has them, except where ours are newer or more careful [CFG-5] [MED-2]', () => {
    const differences = Object.values(MODEL_CONFIGS).flatMap(
      ({ provider, fullName, contextWindow, capabilities }) => {
        const facts = BUILT_IN[provider]?.[fullName];
        if (facts === undefined) return [];
        const found = [
          contextWindow === facts.contextTokens ? '' : 'window',
          capabilities.supportsVision === facts.input?.includes('image') ? '' : 'image',
          capabilities.supportsNativePdf === facts.input?.includes('pdf') ? '' : 'pdf',
        ].filter((name) => name !== '');
        return found.length === 0 ? [] : [`${provider}/${fullName}: ${found.join(', ')}`];
      },
    );
    expect([...new Set(differences)]).toEqual([
      // The window as long as the list price holds; PDFs are for every OpenAI model that sees.
      'openai/gpt-5.6-sol: window',
      'openai/gpt-5.6-terra: window',
      'openai/gpt-5.6-luna: window',
      'openai/gpt-6-astra: window, pdf',
      'openai/gpt-6-sol: window, pdf',
      'openai/gpt-6-luna: window, pdf',
      'xai/grok-4.3: image',
      'deepseek/deepseek-flash: window',
      'deepseek/deepseek-v4-pro: window',
    ]);
  });
});

describe('a model', () => {
  it.each([
    ['anthropic', 'claude-haiku-4-5-20251001', 200_000],
    ['openai', 'gpt-5-2025-08-07', 400_000],
    ['mistral', 'mistral-large-4-latest', 1_048_576],
    ['azure', 'gpt-5', 400_000],
    ['google-vertex', 'gemini-3.8-flash', 1_048_576],
    ['amazon-bedrock', 'us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['amazon-bedrock', 'jp.amazon.nova-2-lite-v1:0', 1_000_000],
  ])('of %s is found by %s [CFG-5]', (provider, model, contextTokens) => {
    expect(lookUp(BUILT_IN, provider, model)).toMatchObject({ contextTokens });
  });

  it('has a price in a region only where the price is the same in all of them [SES-10]', () => {
    const price = (model: string) => lookUp(BUILT_IN, 'amazon-bedrock', model).pricing?.input;
    expect(price('eu.anthropic.claude-sonnet-5')).toBe(2.2);
    expect(price('global.anthropic.claude-sonnet-5')).toBe(2);
    expect(price('amazon.nova-pro-v1:0')).toBe(0.8);
    expect(price('eu.amazon.nova-pro-v1:0')).toBeUndefined();
  });

  it.each([
    ['anthropic', 'claude'],
    ['anthropic', 'constructor'],
    ['toString', 'claude-haiku-4-5'],
    ['local', 'claude-haiku-4-5'],
    ['openai', 'us.gpt-5'],
  ])('of %s that is called %s is not known', (provider, model) => {
    expect(lookUp(BUILT_IN, provider, model)).toEqual({});
  });
});
