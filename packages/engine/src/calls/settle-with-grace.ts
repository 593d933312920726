import type { Clock } from '@agentd/contract';

/** How long foreign code may go on once it was told to stop (SCH-9). */
export const GRACE_MS = 3000;

/** How foreign work ended. */
export type Settled<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'thrown'; readonly thrown: unknown }
  /** It did not settle within the grace; whatever it still does is nobody's business. */
  | { readonly kind: 'abandoned' };

export interface GraceTerms {
  readonly clock: Clock;
  /** Work runs freely until this aborts. */
  readonly signal: AbortSignal;
}

/** Runs foreign work to its end, but after the signal's abort for 3 s at most. Never rejects. */
export function settleWithGrace<Value>(
  work: () => Value | PromiseLike<Value>,
  { clock, signal }: GraceTerms,
): Promise<Settled<Value>> {
  return new Promise((resolve) => {
    let cancelTimer: (() => void) | undefined;
    const finish = (settled: Settled<Value>): void => {
      signal.removeEventListener('abort', onAbort);
      cancelTimer?.();
      resolve(settled);
    };
    const onAbort = (): void => {
      cancelTimer = clock.after(GRACE_MS, () => finish({ kind: 'abandoned' }));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    invoke(work).then(
      (value) => finish({ kind: 'value', value }),
      (thrown: unknown) => finish({ kind: 'thrown', thrown }),
    );
  });
}

/** A synchronous throw becomes a rejection too. */
async function invoke<Value>(work: () => Value | PromiseLike<Value>): Promise<Value> {
  return work();
}
