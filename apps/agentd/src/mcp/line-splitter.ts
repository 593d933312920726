const LINE_FEED = 0x0a;

/**
 * Cuts a stream of bytes into lines of UTF-8, without their ends, each byte copied once. A line of more than `maxBytes`
 * comes out as null, and costs no memory beyond that.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #isTooLong = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(chunk: Buffer): Generator<string | null> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      yield this.#line();
    }
    this.#keep(chunk.subarray(start));
  }

  /** What stood after the last line feed; null where there is nothing, or too much. */
  end(): string | null {
    return this.#length === 0 ? null : this.#line();
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) {
      this.#isTooLong = true;
      this.#parts = [];
    } else if (part.length > 0) this.#parts.push(part);
  }

  #line(): string | null {
    const line = this.#isTooLong ? null : Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#length = 0;
    this.#isTooLong = false;
    return line;
  }
}
