interface Submission {
  readonly data: Uint8Array | null;
  readonly eof: boolean;
  readonly settle: (taken: boolean) => void;
}

/** Further submissions are refused while this many wait. */
const MAX_WAITING = 64;

/**
 * Input for one interactive call (BASH-3).
 *   I1. Chunks reach the tool in order, each once.
 *   I2. `submit` resolves true once the tool came back for more or saw the end: then the bytes are where they belong.
 *   I3. It resolves false where the tool does not read, after the end of input, and after `close`.
 */
export class StdinChannel implements AsyncIterable<Uint8Array> {
  readonly #waiting: Submission[] = [];
  #taken: Submission | null = null;
  #reader: ((result: IteratorResult<Uint8Array>) => void) | null = null;
  #opened = false;
  #ended = false;

  submit(data: Uint8Array | null, eof: boolean): Promise<boolean> {
    if (!this.#opened || this.#ended || this.#waiting.length >= MAX_WAITING) return Promise.resolve(false);
    if (data === null && !eof) return Promise.resolve(true);
    this.#ended = eof;
    return new Promise((settle) => {
      this.#waiting.push({ data, eof, settle });
      const reader = this.#reader;
      if (reader === null) return;
      this.#reader = null;
      this.#give(reader);
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    this.#opened = true;
    return {
      next: () => new Promise((resolve) => this.#give(resolve)),
      return: async () => {
        this.close();
        return DONE;
      },
    };
  }

  /** Refuses what was not taken and ends the tool's reading. */
  close(): void {
    this.#ended = true;
    this.#taken?.settle(true);
    this.#taken = null;
    for (const { settle } of this.#waiting.splice(0)) settle(false);
    this.#reader?.(DONE);
    this.#reader = null;
  }

  #give(reader: (result: IteratorResult<Uint8Array>) => void): void {
    this.#taken?.settle(true);
    this.#taken = this.#waiting.shift() ?? null;
    if (this.#taken === null && !this.#ended) {
      this.#reader = reader;
    } else if (this.#taken === null || this.#taken.data === null) {
      this.#taken?.settle(true);
      this.#taken = null;
      reader(DONE);
    } else {
      reader({ done: false, value: this.#taken.data });
    }
  }
}

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };
