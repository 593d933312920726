/** A line longer than this is no event: results are bounded to 2 MiB, and even their escapes stay far below. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

export interface SplitLine {
  /** One-based. */
  readonly number: number;
  /** Bytes before the line. */
  readonly offset: number;
  /** Bytes without the line end. */
  readonly length: number;
  /** Null where the line was too long to be kept. */
  readonly bytes: Uint8Array | null;
}

/** Cuts bytes into lines at LF alone, and holds no more than one line. */
export class LineSplitter {
  #pieces: Uint8Array[] = [];
  #length = 0;
  #offset = 0;
  #number = 1;

  /** The lines that end within `chunk`. They may share its memory: use them before the chunk is used again. */
  *push(chunk: Uint8Array): Generator<SplitLine> {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#add(chunk.subarray(start, end));
      yield this.#cut(1);
      start = end + 1;
    }
    // The rest outlives the chunk, and `slice` of a Buffer is no copy.
    this.#add(new Uint8Array(chunk.subarray(start)));
  }

  /** What follows the last line end, or null. */
  end(): SplitLine | null {
    return this.#length === 0 ? null : this.#cut(0);
  }

  #add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#length += piece.length;
    if (this.#length > MAX_LINE_BYTES) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #cut(terminator: number): SplitLine {
    const length = this.#length;
    const bytes = length > MAX_LINE_BYTES ? null : joined(this.#pieces, length);
    const line = { number: this.#number, offset: this.#offset, length, bytes };
    this.#number += 1;
    this.#offset += length + terminator;
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length);
}
