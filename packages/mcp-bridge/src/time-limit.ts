import type { Clock } from '@agentd/contract';
import { mcpError } from './errors.ts';

export interface TimeLimit {
  readonly clock: Clock;
  readonly ms: number;
  /** What took too long: `the call`, `connecting`, … */
  readonly what: string;
}

/** Runs a work that may take `ms` from now, and again `ms` from each `renew` (MCP-4). Rejects with `MCP_TIMEOUT`. */
export async function within<Result>(
  { clock, ms, what }: TimeLimit,
  work: (signal: AbortSignal, renew: () => void) => Promise<Result>,
  outer: AbortSignal,
): Promise<Result> {
  outer.throwIfAborted();
  const own = new AbortController();
  const fire = (): void => own.abort(mcpError('MCP_TIMEOUT', `${what} took more than ${ms} ms`));
  let stopTimer = clock.after(ms, fire);
  const renew = (): void => {
    stopTimer();
    if (!own.signal.aborted) stopTimer = clock.after(ms, fire);
  };
  const onAbort = (): void => own.abort(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  let abandon = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    abandon = () => reject(own.signal.reason as Error);
    own.signal.addEventListener('abort', abandon, { once: true });
  });
  try {
    // Whatever the work does with its signal, its caller is not kept waiting.
    return await Promise.race([work(own.signal, renew), ended]);
  } finally {
    stopTimer();
    outer.removeEventListener('abort', onAbort);
    own.signal.removeEventListener('abort', abandon);
  }
}
