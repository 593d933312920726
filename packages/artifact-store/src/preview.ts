import { Buffer } from 'node:buffer';
import { HeadBytes, TailBytes } from './kept-bytes.ts';
import { afterLineFeeds, countLineFeeds, cutAfter, cutBefore } from './utf8.ts';

export interface PreviewLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** What a model sees of a stream. */
export interface PreviewText {
  readonly text: string;
  /** Bytes of stream text in it: without the marker. */
  readonly shownBytes: number;
  readonly truncated: boolean;
  /** The zero-based first line that the head does not show whole; null when nothing was left out. */
  readonly nextOffset: number | null;
}

const LINE_FEED = 0x0a;

/**
 * The beginning and the end of a text that passes by in chunks of any size.
 *   P1. The same text in any chunks gives the same preview.
 *   P2. A text at or below both limits is shown whole; one unit above, it is cut (OUT-4).
 *   P3. Head and tail stay within half of each limit, the odd unit going to the head (OUT-6).
 *   P4. No code point is split (OUT-14).
 *   P5. The whole lines of the head and the text from `nextOffset` on are the whole text (OUT-5).
 *   P6. Memory is a small multiple of the byte limit, whatever passes by.
 */
export class Preview {
  readonly #head: HeadBytes;
  /** Ends of the finished lines and of the line in progress; apart, because a restart drops the latter alone. */
  readonly #finished: TailBytes;
  readonly #current: TailBytes;
  #length = 0;
  #lineStart = 0;
  #lineFeeds = 0;

  /** `maxBytes` is the largest limit that `cut` will be asked for. */
  constructor(maxBytes: number) {
    // One byte more than is shown tells whether the tail starts a line, and whether the head ends a code point.
    const tail = Math.floor(maxBytes / 2) + 1;
    this.#head = new HeadBytes(maxBytes + 1);
    this.#finished = new TailBytes(tail);
    this.#current = new TailBytes(tail);
  }

  /** LF seen so far. */
  get lineFeeds(): number {
    return this.#lineFeeds;
  }

  /** UTF-8; a chunk may end anywhere. */
  append(bytes: Uint8Array): void {
    this.#head.push(bytes);
    const lineFeeds = countLineFeeds(bytes);
    if (lineFeeds === 0) {
      this.#current.push(bytes);
    } else {
      const lineStart = bytes.lastIndexOf(LINE_FEED) + 1;
      this.#finished.push(this.#current.bytes);
      this.#finished.push(bytes.subarray(0, lineStart));
      this.#current.clear();
      this.#current.push(bytes.subarray(lineStart));
      this.#lineStart = this.#length + lineStart;
    }
    this.#length += bytes.length;
    this.#lineFeeds += lineFeeds;
  }

  /** Forgets the line in progress: a terminal is about to write over it. */
  restartLine(): void {
    this.#head.truncate(this.#lineStart);
    this.#current.clear();
    this.#length = this.#lineStart;
  }

  cut(limits: PreviewLimits): PreviewText {
    if (!this.#exceeds(limits)) {
      const whole = this.#head.bytes.subarray(0, this.#length);
      return { text: whole.toString(), shownBytes: whole.length, truncated: false, nextOffset: null };
    }
    const head = this.#head.bytes.subarray(0, this.#headEnd(limits));
    const tail = this.#tailOf(limits);
    const wholeHeadLines = countLineFeeds(head);
    const marker = `[… ${this.#lines - wholeHeadLines - tail.wholeLines} lines omitted]`;
    const parts = [withLineEnd(head.toString()), marker];
    if (tail.bytes.length > 0) parts.push(`\n${tail.bytes.toString()}`);
    const shownBytes = head.length + tail.bytes.length;
    return { text: parts.join(''), shownBytes, truncated: true, nextOffset: wholeHeadLines };
  }

  get #lines(): number {
    return this.#lineFeeds + (this.#length > this.#lineStart ? 1 : 0);
  }

  #exceeds({ maxBytes, maxLines }: PreviewLimits): boolean {
    return this.#length > maxBytes || this.#lines > maxLines;
  }

  #headEnd({ maxBytes, maxLines }: PreviewLimits): number {
    const kept = this.#head.bytes;
    const byLines = afterLineFeeds(kept, 0, Math.ceil(maxLines / 2));
    const byBytes = cutBefore(kept, Math.ceil(maxBytes / 2));
    return byLines === -1 ? byBytes : Math.min(byLines, byBytes);
  }

  #tailOf({ maxBytes, maxLines }: PreviewLimits): { readonly bytes: Buffer; readonly wholeLines: number } {
    const kept = Buffer.concat([this.#finished.bytes, this.#current.bytes]);
    const byBytes = cutAfter(kept, kept.length - Math.floor(maxBytes / 2));
    const start = Math.max(byBytes, startOfLastLines(kept, Math.floor(maxLines / 2)));
    const bytes = kept.subarray(start);
    const lines = countLineFeeds(bytes) + (bytes.length > 0 && bytes.at(-1) !== LINE_FEED ? 1 : 0);
    const startsInLine = start > 0 && kept[start - 1] !== LINE_FEED;
    return { bytes, wholeLines: lines - (startsInLine && lines > 0 ? 1 : 0) };
  }
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Where the last `count` lines start; a text's last line need not end in LF. */
function startOfLastLines(bytes: Buffer, count: number): number {
  if (count === 0) return bytes.length;
  let start = bytes.length;
  for (let left = count; left > 0; left -= 1) {
    const before = start - 2;
    if (before < 0) return 0;
    start = bytes.lastIndexOf(LINE_FEED, before) + 1;
    if (start === 0) return 0;
  }
  return start;
}
