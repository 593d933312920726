/** Work that nobody waits for while all goes well, and that `close` must not leave behind. */
export class Leftovers {
  readonly #works = new Set<Promise<unknown>>();

  /** What it rejects with is of no interest any more. */
  keep(work: Promise<unknown>): void {
    const kept = work.catch(() => undefined).finally(() => this.#works.delete(kept));
    this.#works.add(kept);
  }

  async done(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
  }
}
