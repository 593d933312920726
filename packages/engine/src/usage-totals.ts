import type { ModelUsage } from '@agentd/contract';
import type { EventOf } from './events.ts';

/** Tokens of some model turns added up. */
export interface UsageSum extends ModelUsage {
  readonly turns: number;
  /** US dollars; null as soon as the cost of one turn is not known, so that a sum is never too low. */
  readonly cost_usd: number | null;
}

/** What was used, in all and for each `provider/model` (SES-10). */
export interface UsageTotals {
  readonly total: UsageSum;
  readonly models: Readonly<Record<string, UsageSum>>;
}

export const NO_USAGE: UsageSum = {
  turns: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
};

/** Adds up usage as it is recorded; the cost of one addition does not grow. */
export class UsageLedger {
  #total = NO_USAGE;
  readonly #models = new Map<string, UsageSum>();

  add(recorded: EventOf<'model_usage_recorded'>): void {
    this.#addSum(recorded.model, { ...recorded, turns: 1 });
  }

  get totals(): UsageTotals {
    return { total: this.#total, models: Object.fromEntries(this.#models) };
  }

  /** Adds what another ledger had: the sum of a tree is that of its sessions. */
  merge({ models }: UsageTotals): void {
    for (const [model, sum] of Object.entries(models)) this.#addSum(model, sum);
  }

  #addSum(model: string, sum: UsageSum): void {
    this.#total = plus(this.#total, sum);
    this.#models.set(model, plus(this.#models.get(model) ?? NO_USAGE, sum));
  }
}

function plus(left: UsageSum, right: UsageSum): UsageSum {
  return {
    turns: left.turns + right.turns,
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cache_read_tokens: left.cache_read_tokens + right.cache_read_tokens,
    cache_write_tokens: left.cache_write_tokens + right.cache_write_tokens,
    reasoning_tokens: left.reasoning_tokens + right.reasoning_tokens,
    cost_usd: left.cost_usd === null || right.cost_usd === null ? null : left.cost_usd + right.cost_usd,
  };
}
