import type { OutputLimits } from '@agentd/contract';

/** What is wrong with limits of output, or undefined (OUT-15). */
export function limitsProblem({ maxLines, maxBytes, maxCaptureBytes }: OutputLimits): string | undefined {
  const bad = Object.entries({ maxLines, maxBytes, maxCaptureBytes }).find(
    ([, limit]) => !Number.isSafeInteger(limit) || limit < 1,
  );
  return bad === undefined ? undefined : `${bad[0]} must be a positive integer, not ${bad[1]}`;
}
