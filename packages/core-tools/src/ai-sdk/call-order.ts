import { setImmediate } from 'node:timers/promises';

/**
 * What a loop owes the tools.
 *   O1. No call of a turn is executed while a sibling that began with it is still being prepared.
 *   O2. Calls with equal keys never run at the same time; they run in the order in which they asked.
 */
export class CallOrder {
  readonly #preparing = new WeakMap<object, Set<Promise<unknown>>>();
  readonly #lanes = new Map<string, Promise<unknown>>();

  /** Prepares a call and waits for the siblings of its turn to be prepared, too. */
  async prepared<T>(turn: object, prepare: () => Promise<T>): Promise<T> {
    const siblings = this.#preparing.get(turn) ?? new Set();
    this.#preparing.set(turn, siblings);
    const own = prepare();
    siblings.add(own);
    try {
      const call = await own;
      // A loop starts the calls of a turn one by one: all that it starts in one go have joined after this.
      await setImmediate();
      await Promise.allSettled(siblings);
      return call;
    } finally {
      siblings.delete(own);
    }
  }

  /** Runs `work` when nothing else with this key runs; without a key, at once. */
  async alone<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
    if (key === undefined) return work();
    const before = this.#lanes.get(key);
    const own = (before ?? Promise.resolve()).then(work, work);
    this.#lanes.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#lanes.get(key) === own) this.#lanes.delete(key);
    }
  }
}
