import { toolError, type Clock } from '@agentd/contract';

export interface TimeLimit {
  readonly ms: number;
  readonly clock: Clock;
  /** The error when time is up. */
  readonly expired: () => Error;
}

/**
 * Runs with a signal that fires when time is up or the call is cancelled, and settles then, whatever `run` still
 * does. Leaves neither timer nor listener behind.
 */
export async function withinTime<T>(
  { ms, clock, expired }: TimeLimit,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw cancelled();
  const controller = new AbortController();
  let end: (reason: Error) => void = () => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    end = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const onAbort = (): void => end(cancelled());
  const cancelTimer = clock.after(ms, () => end(expired()));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([stopped, run(controller.signal)]);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', onAbort);
  }
}

export function cancelled(): Error {
  return toolError('cancelled', 'the call was cancelled before the page was there');
}
