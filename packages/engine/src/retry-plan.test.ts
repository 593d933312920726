import { describe, expect, it } from '@jest/globals';
import type { Ids } from '@agentd/contract';
import { RetryPlan } from './retry-plan.ts';

/** Ids whose hex digits make the jitter what the test wants. */
const jitter = (digits: string): Ids => ({ uuid: () => '', hex: () => digits });
const middle = jitter('80000000');
const limits = { standard: 3, overload: 5, ceilingMs: 60_000 };
const rateLimit = { code: 'MODEL_RATE_LIMIT', retryAfterMs: undefined } as const;
const overloaded = { code: 'MODEL_OVERLOADED', retryAfterMs: undefined } as const;

describe('RetryPlan', () => {
  it('waits a second, then twice as long each time, and then no more [SES-9]', () => {
    const plan = new RetryPlan(limits, middle);
    expect([1, 2, 3, 4].map(() => plan.next(rateLimit))).toEqual([1000, 2000, 4000, null]);
  });

  it('is off by a quarter at most [SES-9]', () => {
    expect(new RetryPlan(limits, jitter('00000000')).next(rateLimit)).toBe(750);
    expect(new RetryPlan(limits, jitter('ffffffff')).next(rateLimit)).toBe(1250);
  });

  it('never waits longer than the ceiling by itself [SES-9]', () => {
    const plan = new RetryPlan({ ...limits, overload: 20 }, jitter('ffffffff'));
    const waits = Array.from({ length: 20 }, () => plan.next(overloaded) ?? 0);
    expect(Math.max(...waits)).toBe(60_000);
  });

  it('lets a longer time of the server win, above the ceiling too, and a shorter one not [SES-9]', () => {
    const plan = new RetryPlan(limits, middle);
    expect(plan.next({ ...rateLimit, retryAfterMs: 300_000 })).toBe(300_000);
    expect(plan.next({ ...rateLimit, retryAfterMs: 5 })).toBe(2000);
  });

  it('counts overload apart from the rest [SES-9]', () => {
    const plan = new RetryPlan({ ...limits, standard: 1, overload: 2 }, middle);
    expect([overloaded, rateLimit, overloaded].map((failed) => plan.next(failed))).toEqual([
      1000, 2000, 4000,
    ]);
    expect(plan.next(rateLimit)).toBeNull();
    expect(plan.next(overloaded)).toBeNull();
  });

  it.each(['MODEL_AUTH', 'MODEL_REFUSED', 'MODEL_CONTEXT_OVERFLOW'] as const)(
    'does not try again after %s [SES-9]',
    (code) => {
      expect(new RetryPlan(limits, middle).next({ code, retryAfterMs: 10 })).toBeNull();
    },
  );
});
