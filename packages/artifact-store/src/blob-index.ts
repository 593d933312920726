import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { countLineFeeds, endsInLine, tornBytes } from './utf8.ts';

/** A line's start is noted about this often: a page is then found after reading this much. */
const BLOCK_BYTES = 64 * 1024;

/** Enough for every signature in `media-type.ts`. */
const FIRST_BYTES = 32;

/** What one pass over a blob tells. */
export interface BlobIndex {
  readonly sha256: string;
  readonly byteLength: number;
  readonly lineCount: number;
  readonly isText: boolean;
  readonly firstBytes: Uint8Array;
  /** The last noted start of a line at or before `line`. */
  readonly startBefore: (line: number) => LineStart;
}

interface LineStart {
  readonly line: number;
  readonly byte: number;
}

/** Reads a blob once, in bounded memory: its digest, whether it is text, and where its lines are. */
export async function indexBlob(chunks: AsyncIterable<Uint8Array>): Promise<BlobIndex> {
  const scan = new BlobScan();
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += BLOCK_BYTES) {
      scan.add(
        Buffer.from(chunk.buffer, chunk.byteOffset + start, Math.min(BLOCK_BYTES, chunk.length - start)),
      );
    }
  }
  return scan.finish();
}

class BlobScan {
  readonly #hash = createHash('sha256');
  readonly #starts: LineStart[] = [{ line: 0, byte: 0 }];
  #firstBytes: Uint8Array = new Uint8Array(0);
  #tornEnd: Uint8Array = new Uint8Array(0);
  #isText = true;
  #lineFeeds = 0;
  #endsInLine = false;
  byteLength = 0;

  add(block: Buffer): void {
    this.#hash.update(block);
    if (this.byteLength === 0) this.#firstBytes = Uint8Array.from(block.subarray(0, FIRST_BYTES));
    if (this.#isText) this.#checkText(block);
    const lineFeed = block.indexOf(0x0a);
    if (lineFeed !== -1) {
      this.#starts.push({ line: this.#lineFeeds + 1, byte: this.byteLength + lineFeed + 1 });
      this.#lineFeeds += countLineFeeds(block);
    }
    this.#endsInLine = endsInLine(block);
    this.byteLength += block.length;
  }

  finish(): BlobIndex {
    const starts = this.#starts;
    return {
      sha256: this.#hash.digest('hex'),
      byteLength: this.byteLength,
      lineCount: this.#lineFeeds + (this.#endsInLine ? 1 : 0),
      isText: this.#isText && this.#tornEnd.length === 0,
      firstBytes: this.#firstBytes,
      startBefore: (line) => lastAtOrBefore(starts, line),
    };
  }

  /** A character may be cut by the block's end: its bytes are looked at with the next block. */
  #checkText(block: Buffer): void {
    const bytes = this.#tornEnd.length === 0 ? block : Buffer.concat([this.#tornEnd, block]);
    const whole = bytes.length - tornBytes(bytes);
    this.#isText = isUtf8(bytes.subarray(0, whole));
    this.#tornEnd = Uint8Array.from(bytes.subarray(whole));
  }
}

function lastAtOrBefore(starts: readonly LineStart[], line: number): LineStart {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle]?.line ?? Infinity) <= line) low = middle;
    else high = middle;
  }
  return starts[low] ?? { line: 0, byte: 0 };
}
