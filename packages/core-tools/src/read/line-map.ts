import type { TextEncoding } from '../target/text-encoding.ts';
import type { LineProgress } from './text-pager.ts';

/** A position in a file where reading can be taken up again, in the middle of a line too. */
export interface LineMark {
  /** Bytes of the file before it. */
  readonly position: number;
  readonly progress: LineProgress;
}

/** More marks than this are thinned out: their distance doubles, a page then scans a little more. */
const MAX_MARKS = 4096;

/**
 * Where the lines of one version of a text file are, as far as it was scanned.
 *   M1. Marks ascend, each at least a step behind the one before; there are never more than 4,096.
 *   M2. What a map knows was seen in one version of the file; whoever keeps it compares versions.
 */
export class LineMap {
  readonly encoding: TextEncoding;
  #marks: LineMark[];
  #furthest: LineMark | null;
  #stepBytes: number;
  #isWhole = false;

  constructor(encoding: TextEncoding, stepBytes: number) {
    this.encoding = encoding;
    this.#stepBytes = stepBytes;
    this.#marks = [];
    this.#furthest = null;
  }

  /** A copy that can learn more while others read this one. */
  copy(): LineMap {
    const copy = new LineMap(this.encoding, this.#stepBytes);
    copy.#marks = [...this.#marks];
    copy.#furthest = this.#furthest;
    copy.#isWhole = this.#isWhole;
    return copy;
  }

  /** Takes the end of what was just scanned. */
  see(mark: LineMark): void {
    if (mark.position <= this.scannedBytes) return;
    this.#furthest = mark;
    if (mark.position - (this.#marks.at(-1)?.position ?? 0) < this.#stepBytes) return;
    this.#marks.push(mark);
    if (this.#marks.length < MAX_MARKS) return;
    this.#marks = this.#marks.filter((_mark, index) => index % 2 === 1);
    this.#stepBytes *= 2;
  }

  /** The scan reached the end of the file. */
  seeEnd(mark: LineMark): void {
    this.#furthest = mark;
    this.#isWhole = true;
  }

  /** The nearest mark from which line `offset` is seen whole; null means the start of the text. */
  before(offset: number): LineMark | null {
    let [low, high] = [0, this.#marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const mark = this.#marks[middle];
      if (mark !== undefined && leadsTo(mark, offset)) low = middle + 1;
      else high = middle;
    }
    const furthest = this.#furthest;
    return furthest !== null && leadsTo(furthest, offset) ? furthest : (this.#marks[low - 1] ?? null);
  }

  get scannedBytes(): number {
    return this.#furthest?.position ?? 0;
  }

  /** All that is known of the lines so far. */
  get progress(): LineProgress | null {
    return this.#furthest?.progress ?? null;
  }

  /** Null until the end of the file was seen. */
  get totalLines(): number | null {
    return this.#isWhole ? (this.#furthest?.progress.ended ?? 0) : null;
  }

  get size(): number {
    return this.#marks.length;
  }
}

function leadsTo({ progress }: LineMark, offset: number): boolean {
  return progress.ended < offset || (progress.ended === offset && !progress.isOpen);
}
