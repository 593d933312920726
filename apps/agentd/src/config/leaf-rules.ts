import { z } from 'zod';
import { isModelId } from '../models/model-id.ts';

/** A value that passes `accepts`; the phrase completes "expected …" in the error (CFG-2). */
function leaf<Value>(expected: string, accepts: (value: unknown) => boolean): z.ZodType<Value> {
  return z.custom<Value>(accepts, `expected ${expected}`);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const text = leaf<string>('a non-empty string', isText);
export const webAddress = leaf<string>(
  'an http or https address',
  (value) => isText(value) && /^https?:\/\/./i.test(value) && URL.canParse(value),
);
export const flag = leaf<boolean>('true or false', (value) => typeof value === 'boolean');
export const texts = leaf<readonly string[]>(
  'a list of strings',
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
);
export const textsByName = leaf<Readonly<Record<string, string>>>(
  'a table of strings',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === 'string'),
);

/** An integer from `least` on, up to `most` where one is given. */
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): z.ZodType<number> {
  const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return leaf(
    least === 1 && most === Number.MAX_SAFE_INTEGER ? 'a positive integer' : `an integer ${bounds}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  );
}

export const anyInteger = leaf<number>('an integer', (value) => Number.isSafeInteger(value));

export const price = leaf<number>(
  'US dollars a million tokens, a number of at least 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
);

/** A list whose members come from a fixed set. */
export function listOf<Word extends string>(words: readonly Word[]): z.ZodType<readonly Word[]> {
  return leaf(
    `a non-empty list of ${words.map((word) => `"${word}"`).join(', ')}`,
    (value) =>
      Array.isArray(value) && value.length > 0 && value.every((item) => words.includes(item as Word)),
  );
}

export function oneOf<Word extends string>(words: readonly Word[]): z.ZodType<Word> {
  return leaf(`one of ${words.map((word) => `"${word}"`).join(', ')}`, (value) =>
    words.includes(value as Word),
  );
}

const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/;
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration such as `"1h"` or `"30s"`; milliseconds after validation. */
export const duration: z.ZodType<number, string> = z
  .custom<string>(
    (value) => typeof value === 'string' && DURATION.test(value),
    'expected a duration such as "30s", "10m" or "1h"',
  )
  .transform((value) => {
    const [, amount, unit] = DURATION.exec(value) ?? [];
    return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  });

export const modelId = leaf<string>('"provider/model"', isModelId);
