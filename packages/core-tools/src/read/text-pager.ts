export interface TextWindow {
  /** Zero-based first line. */
  readonly offset: number;
  /** Lines. */
  readonly limit: number;
  /** What the rendered lines may take together. */
  readonly maxBytes: number;
}

/** How far a scan has come: all that a later one needs to go on from there. */
export interface LineProgress {
  /** Ended lines so far. */
  readonly ended: number;
  /** How many of them ended in `\r\n`. */
  readonly crlf: number;
  /** Whether a line has begun and not ended. */
  readonly isOpen: boolean;
  /** The last byte of the text so far; 0 where there is none. */
  readonly lastByte: number;
  /** Whether the last of the ended lines ended with the file alone. */
  readonly isUnterminated: boolean;
}

const LF = 0x0a;
const CR = 0x0d;

const START: LineProgress = { ended: 0, crlf: 0, isOpen: false, lastByte: 0, isUnterminated: false };

/** What the ends of the lines so far are; undefined where there are none (FS-2). */
export function lineEndingOf({
  ended,
  crlf,
  isUnterminated,
}: LineProgress): 'lf' | 'crlf' | 'mixed' | undefined {
  const ends = ended - (isUnterminated ? 1 : 0);
  if (ends === 0) return undefined;
  if (crlf === 0) return 'lf';
  return crlf === ends ? 'crlf' : 'mixed';
}

/**
 * Cuts one page out of text that comes in chunks of UTF-8.
 *   P1. It keeps the bytes of the page and nothing else, never more than `maxBytes`.
 *   P2. A line is whole or absent; a final line without a line end is a line, nothing after the last end is.
 *   P3. Lines are numbered from one; the `\r` of a `\r\n` is not part of a line.
 *   P4. It can go on from the progress of another, and then comes to the same.
 */
export class TextPager {
  readonly #window: TextWindow;
  readonly #rendered: string[] = [];
  #parts: Buffer[] = [];
  #partBytes = 0;
  #pageBytes = 0;
  /** Ended lines so far, shown or not. */
  #ended: number;
  #crlf: number;
  #isOpen: boolean;
  #lastByte: number;
  #unterminated = false;
  #overflowed = false;

  /** `start` is the progress of a scan of the text before; the line it left open must not be in the window. */
  constructor(window: TextWindow, start: LineProgress = START) {
    this.#window = window;
    this.#ended = start.ended;
    this.#crlf = start.crlf;
    this.#isOpen = start.isOpen;
    this.#lastByte = start.lastByte;
  }

  push(chunk: Buffer): void {
    let start = this.#skip(chunk);
    for (let at = chunk.indexOf(LF, start); at >= 0; at = chunk.indexOf(LF, start)) {
      this.#take(chunk.subarray(start, at));
      this.#endLine();
      if (this.#overflowed) return;
      start = at + 1;
    }
    this.#take(chunk.subarray(start));
  }

  /** The text is over: what stands after the last line end is a line. */
  end(): void {
    if (!this.#isOpen) return;
    this.#keepLine(false);
    this.#ended++;
    this.#isOpen = false;
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
    return after > 0 || (after === 0 && this.#isOpen);
  }

  /** Good while the page is not too large: a page that is stops in the middle. */
  get progress(): LineProgress {
    return {
      ended: this.#ended,
      crlf: this.#crlf,
      isOpen: this.#isOpen,
      lastByte: this.#lastByte,
      isUnterminated: this.#unterminated,
    };
  }

  /** Counts the lines before or behind the page, which nobody keeps; returns where in the chunk it stopped. */
  #skip(chunk: Buffer): number {
    if (this.#inPage) return 0;
    const wanted = this.#window.offset - this.#ended;
    let start = 0;
    for (let left = wanted > 0 ? wanted : Infinity; left > 0; left--) {
      const at = chunk.indexOf(LF, start);
      if (at < 0) break;
      const before = at > start ? chunk[at - 1] : start === 0 && this.#isOpen ? this.#lastByte : 0;
      if (before === CR) this.#crlf++;
      this.#ended++;
      this.#isOpen = false;
      start = at + 1;
    }
    return start;
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#isOpen = true;
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
    const returns = this.#isOpen && this.#lastByte === CR;
    if (returns) this.#crlf++;
    if (!this.#overflowed) this.#keepLine(returns);
    this.#ended++;
    this.#isOpen = false;
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
