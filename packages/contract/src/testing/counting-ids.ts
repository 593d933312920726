import type { Ids } from '../ids.ts';

/** Ids that count up, so that a test can name them: `00000000-0000-4000-8000-000000000001`, … */
export function countingIds(): Ids {
  let count = 0;
  const next = (length: number): string => (++count).toString(16).padStart(length, '0');
  return {
    uuid: () => `00000000-0000-4000-8000-${next(12)}`,
    hex: (length) => next(length).slice(-length),
  };
}
