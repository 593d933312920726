/** Time in milliseconds since the Unix epoch, and timers. */
export interface Clock {
  readonly now: () => number;
  /** Calls `run` once after `ms`; the returned function cancels it. Contract: any non-negative `ms` works, however large. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** Timers of Node fire at once beyond 2^31 − 1 ms, so a longer wait is taken in steps. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > step ? arm(left - step) : run()), step);
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** Waits, or rejects with the signal's reason; leaves neither timer nor listener behind. */
export async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
