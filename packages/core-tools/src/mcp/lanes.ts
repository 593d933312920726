/** A place in a lane. */
export interface Place {
  readonly name: string;
  /** Whether somebody else was there. */
  readonly waited: boolean;
  /** Lets the next one in. Idempotent. */
  readonly leave: () => void;
}

/**
 * Mutual exclusion by name.
 *   L1. A lane has one holder at most; others get it in the order in which they came.
 *   L2. A waiter whose signal aborts leaves the queue, and the others keep their order.
 */
export class Lanes {
  /** What the next one to come has to wait for; a free lane has no entry. */
  readonly #ends = new Map<string, Promise<unknown>>();

  /** Takes a place in the queue at once; rejects with the signal's reason. */
  async enter(name: string, signal: AbortSignal): Promise<Place> {
    const before = this.#ends.get(name);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const end = before === undefined ? left : before.then(() => left);
    this.#ends.set(name, end);
    void end.then(() => {
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    });
    try {
      if (before !== undefined) await orAbort(before, signal);
    } catch (thrown) {
      leave();
      throw thrown;
    }
    return { name, waited: before !== undefined, leave };
  }
}

async function orAbort(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
