export interface TextWindow {
  /** Zero-based first line. */
  readonly offset: number;
  /** Lines. */
  readonly limit: number;
  /** What the rendered lines may take together. */
  readonly maxBytes: number;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Cuts one page out of text that comes in chunks of UTF-8.
 *   P1. It keeps the bytes of the page and nothing else, never more than `maxBytes`.
 *   P2. A line is whole or absent; a final line without a line end is a line, nothing after the last end is.
 *   P3. Lines are numbered from one; the `\r` of a `\r\n` is not part of a line.
 */
export class TextPager {
  readonly #window: TextWindow;
  readonly #rendered: string[] = [];
  #parts: Buffer[] = [];
  #partBytes = 0;
  #pageBytes = 0;
  /** Ended lines so far, shown or not. */
  #ended = 0;
  #openBytes = 0;
  #lastByte = 0;
  #crlf = 0;
  #unterminated = false;
  #overflowed = false;

  constructor(window: TextWindow) {
    this.#window = window;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, start)) {
      this.#take(chunk.subarray(start, at));
      this.#endLine();
      if (this.#overflowed) return;
      start = at + 1;
    }
    this.#take(chunk.subarray(start));
  }

  /** The text is over: what stands after the last line end is a line. */
  end(): void {
    if (this.#openBytes === 0) return;
    this.#keepLine(false);
    this.#ended++;
    this.#openBytes = 0;
    this.#unterminated = true;
  }

  get lines(): readonly string[] {
    return this.#rendered;
  }

  /** Lines seen so far; all of the file's after `end()`. */
  get seenLines(): number {
    return this.#ended;
  }

  /** The page is complete, or cannot be. */
  get isFull(): boolean {
    return this.#overflowed || this.#ended >= this.#window.offset + this.#window.limit;
  }

  /** The page takes more than `maxBytes`; `lines` holds those that fit. */
  get isTooLarge(): boolean {
    return this.#overflowed;
  }

  /** Whether anything was seen after the page. */
  get hasMore(): boolean {
    const after = this.#ended - this.#window.offset - this.#window.limit;
    return after > 0 || (after === 0 && this.#openBytes > 0);
  }

  get lineEnding(): 'lf' | 'crlf' | 'mixed' | undefined {
    const ends = this.#ended - (this.#unterminated ? 1 : 0);
    if (ends === 0) return undefined;
    if (this.#crlf === 0) return 'lf';
    return this.#crlf === ends ? 'crlf' : 'mixed';
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#openBytes += bytes.length;
    this.#lastByte = bytes.at(-1) ?? 0;
    if (!this.#inPage || this.#overflowed) return;
    if (this.#pageBytes + this.#partBytes + bytes.length > this.#window.maxBytes) {
      this.#overflowed = true;
      this.#parts = [];
      return;
    }
    this.#partBytes += bytes.length;
    this.#parts.push(Buffer.from(bytes));
  }

  #endLine(): void {
    const returns = this.#openBytes > 0 && this.#lastByte === CR;
    if (returns) this.#crlf++;
    if (!this.#overflowed) this.#keepLine(returns);
    this.#ended++;
    this.#openBytes = 0;
  }

  #keepLine(dropsReturn: boolean): void {
    if (!this.#inPage) return;
    const bytes = Buffer.concat(this.#parts, this.#partBytes);
    const text = bytes.toString('utf8', 0, bytes.length - (dropsReturn ? 1 : 0));
    const line = `${this.#ended + 1}: ${text}`;
    this.#parts = [];
    this.#partBytes = 0;
    this.#pageBytes += Buffer.byteLength(line) + 1;
    if (this.#pageBytes > this.#window.maxBytes) this.#overflowed = true;
    else this.#rendered.push(line);
  }

  get #inPage(): boolean {
    const { offset, limit } = this.#window;
    return this.#ended >= offset && this.#ended < offset + limit;
  }
}
