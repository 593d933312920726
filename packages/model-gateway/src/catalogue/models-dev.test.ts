import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readModelsDev } from './read-models-dev.ts';

const claude = {
  id: 'claude-x',
  name: 'Claude X',
  attachment: true,
  tool_call: true,
  modalities: { input: ['text', 'pdf', 'image', 'smell'], output: ['text'] },
  limit: { context: 500_000, output: 50_000 },
  cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, tiers: [{ input: 6 }] },
};

describe('the catalogue of models.dev', () => {
  it('gives facts of the well-known providers under their names here, and of others that are asked for [CFG-5]', async () => {
    const models = { 'claude-x': claude };
    const json = {
      anthropic: { id: 'anthropic', models },
      moonshotai: { models },
      zai: { models },
      xyz: { models },
    };
    const facts = {
      input: ['text', 'image', 'pdf'],
      contextTokens: 500_000,
      outputTokens: 50_000,
      pricing: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    };
    expect(await readModelsDev(json, ['zai', 'local'])).toEqual({
      anthropic: { 'claude-x': facts },
      moonshot: { 'claude-x': facts },
      zai: { 'claude-x': facts },
    });
  });

  it.each<[string, object, object | undefined]>([
    ['no input', { modalities: { output: ['text'] } }, undefined],
    [
      'an input without text',
      { modalities: { input: ['image'] }, limit: { context: 9 } },
      { contextTokens: 9 },
    ],
    ['no list of inputs', { modalities: { input: 'text' }, limit: { output: 9 } }, { outputTokens: 9 }],
    ['no text to write', { ...claude, modalities: { input: ['text'], output: ['image'] } }, undefined],
    ['half a limit', { limit: { context: '9', output: 7 } }, { outputTokens: 7 }],
    [
      'limits that are none',
      { limit: { context: 0, output: -1 }, cost: { input: 1, output: 0 } },
      { pricing: { input: 1, output: 0 } },
    ],
    ['half a price', { limit: { context: 9 }, cost: { input: 1 } }, { contextTokens: 9 }],
    [
      'a price that is none',
      { limit: { context: 9 }, cost: { input: -1, output: 'free' } },
      { contextTokens: 9 },
    ],
    [
      'cache prices that are none',
      { cost: { input: 1, output: 2, cache_read: null } },
      { pricing: { input: 1, output: 2 } },
    ],
  ])('is read as far as it goes: %s', async (_what, model, facts) => {
    const json = { openai: { models: { m: model } } };
    expect(await readModelsDev(json)).toEqual({ openai: facts === undefined ? {} : { m: facts } });
  });

  it.each([[null], [[]], ['{}'], [{}], [{ anthropic: { models: [] } }], [{ unheard: { models: {} } }]])(
    'is none where %j is given',
    async (json) => {
      expect(await readModelsDev(json)).toBeUndefined();
    },
  );

  it('never fails, and never gives a fact that is none, whatever stands in it', async () => {
    const anything = fc.jsonValue();
    const model = fc.record(
      {
        modalities: fc.oneof(
          anything,
          fc.record({ input: anything, output: anything }, { requiredKeys: [] }),
        ),
        limit: fc.oneof(anything, fc.record({ context: anything, output: anything }, { requiredKeys: [] })),
        cost: fc.oneof(
          anything,
          fc.record({ input: fc.double(), output: fc.double(), cache_read: anything }),
        ),
      },
      { requiredKeys: [] },
    );
    const json = fc.oneof(
      anything,
      fc.record({ openai: fc.oneof(anything, fc.record({ models: fc.dictionary(fc.string(), model) })) }),
    );
    await fc.assert(
      fc.asyncProperty(json, async (given) => {
        for (const facts of Object.values((await readModelsDev(given))?.['openai'] ?? {})) {
          const { contextTokens = 1, outputTokens = 1, pricing = { input: 0, output: 0 } } = facts;
          const numbers = [contextTokens, outputTokens, ...Object.values(pricing)];
          expect(numbers.every((number) => Number.isFinite(number) && number >= 0)).toBe(true);
          expect(facts.input?.includes('text') ?? true).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});
