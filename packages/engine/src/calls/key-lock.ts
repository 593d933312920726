/** Lets a key go. Idempotent. */
export type Unlock = () => void;

/**
 * Mutual exclusion by key.
 *   K1. A key has one holder at most.
 *   K2. Waiters of one key get it in the order in which they asked.
 *   K3. Keys do not wait for each other.
 *   K4. A waiter whose signal aborts leaves the queue, and the others keep their order.
 */
export class KeyLock {
  /** Waiters of each held key; a key that is free has no entry. */
  readonly #queues = new Map<string, Set<() => void>>();

  /** Takes a place in the queue at once; rejects with the signal's reason. */
  acquire(key: string, signal: AbortSignal): Promise<Unlock> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const queue = this.#queues.get(key);
    if (queue === undefined) {
      this.#queues.set(key, new Set());
      return Promise.resolve(this.#unlockOnce(key));
    }
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(this.#unlockOnce(key));
      };
      const onAbort = (): void => {
        queue.delete(grant);
        reject(signal.reason);
      };
      queue.add(grant);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #unlockOnce(key: string): Unlock {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#passOn(key);
    };
  }

  #passOn(key: string): void {
    const queue = this.#queues.get(key);
    const [next] = queue ?? [];
    if (next === undefined) {
      this.#queues.delete(key);
      return;
    }
    queue?.delete(next);
    next();
  }
}
