import { EXIT } from '../exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What a user's signal does to a command. */
export interface Interruption extends Disposable {
  /** Aborts at the first signal; a second one ends the process at once. */
  readonly signal: AbortSignal;
}

export function onInterruption(): Interruption {
  const controller = new AbortController();
  const listener = (): void => {
    // It leaves the run without its end; the next process to open the session gives it one.
    if (controller.signal.aborted) process.exit(EXIT.cancelled);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}
