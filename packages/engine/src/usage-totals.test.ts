import { describe, expect, it } from '@jest/globals';
import type { EventOf } from './events.ts';
import { UsageLedger } from './usage-totals.ts';

const recorded = (model: string, input: number, cost: number | null): EventOf<'model_usage_recorded'> => ({
  type: 'model_usage_recorded',
  model,
  input_tokens: input,
  output_tokens: 2,
  cache_read_tokens: 3,
  cache_write_tokens: 4,
  reasoning_tokens: 5,
  cost_usd: cost,
});

function ledgerOf(...turns: EventOf<'model_usage_recorded'>[]): UsageLedger {
  const ledger = new UsageLedger();
  for (const turn of turns) ledger.add(turn);
  return ledger;
}

describe('UsageLedger', () => {
  it('sums every kind of token for the session and for each model [SES-10]', () => {
    const { total, models } = ledgerOf(
      recorded('a/x', 1, 0.5),
      recorded('b/y', 10, 0.25),
      recorded('a/x', 100, 1),
    ).totals;
    expect(total).toEqual({
      turns: 3,
      input_tokens: 111,
      output_tokens: 6,
      cache_read_tokens: 9,
      cache_write_tokens: 12,
      reasoning_tokens: 15,
      cost_usd: 1.75,
    });
    expect(models).toMatchObject({
      'a/x': { turns: 2, input_tokens: 101, cost_usd: 1.5 },
      'b/y': { turns: 1, input_tokens: 10, cost_usd: 0.25 },
    });
  });

  it('knows no cost in all as soon as one turn has none, and still that of the other models [SES-10]', () => {
    const { total, models } = ledgerOf(recorded('a/x', 1, 0.5), recorded('local/z', 1, null)).totals;
    expect(total.cost_usd).toBeNull();
    expect(models).toMatchObject({ 'a/x': { cost_usd: 0.5 }, 'local/z': { cost_usd: null } });
  });

  it('merges the sessions of a tree into one sum [SES-10]', () => {
    const [root, child] = [
      ledgerOf(recorded('a/x', 1, 1)),
      ledgerOf(recorded('a/x', 2, 2), recorded('b/y', 4, 4)),
    ];
    root.merge(child.totals);
    expect(root.totals.total).toMatchObject({ turns: 3, input_tokens: 7, cost_usd: 7 });
    expect(root.totals.models).toMatchObject({ 'a/x': { turns: 2, input_tokens: 3 }, 'b/y': { turns: 1 } });
  });

  it('takes a model with any name', () => {
    expect(Object.keys(ledgerOf(recorded('__proto__', 1, 1)).totals.models)).toEqual(['__proto__']);
  });
});
