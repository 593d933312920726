/** Runs works of one key one after the other, in the order of the calls. */
export class SerialLock {
  readonly #tails = new Map<string, Promise<void>>();

  async run<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const done = Promise.withResolvers<void>();
    this.#tails.set(key, done.promise);
    try {
      await before;
      return await work();
    } finally {
      done.resolve();
      if (this.#tails.get(key) === done.promise) this.#tails.delete(key);
    }
  }
}
