/** The newline that ends each JSON-RPC message of the stdio transport. */
const NEWLINE = 0x0a;

/** What is kept of the beginning and of the end of a line that is too long, to tell whose answer it was. */
const EDGE_BYTES = 4096;

export interface LineSink {
  readonly line: (text: string) => void;
  /** A line beyond the limit; only its edges are known. */
  readonly oversized: (edges: {
    readonly head: string;
    readonly tail: string;
    readonly bytes: number;
  }) => void;
}

/**
 * Cuts a byte stream into lines.
 *   R1. Time is linear in the bytes, however they are cut into chunks.
 *   R2. At most `maxBytes` of one line are held; a longer line is told once, by its edges, and the next one is whole.
 *   R3. A character that is split between chunks is whole in its line.
 */
export class LineReader {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #head: Buffer | null = null;
  #tail: Buffer = Buffer.alloc(0);

  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    let end = chunk.indexOf(NEWLINE);
    while (end !== -1) {
      this.#take(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
      end = chunk.indexOf(NEWLINE, start);
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  /** The stream is over: what has no newline is a line all the same. */
  end(): void {
    if (this.#bytes > 0) this.#finish();
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#head !== null) {
      this.#keepTail(part);
      return;
    }
    this.#parts.push(part);
    if (this.#bytes > this.#maxBytes) this.#giveUp();
  }

  /** From here on only the edges of the line matter. */
  #giveUp(): void {
    const known = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#head = Buffer.from(known.subarray(0, EDGE_BYTES));
    this.#keepTail(known);
  }

  #keepTail(part: Buffer): void {
    const joined = part.length >= EDGE_BYTES ? part : Buffer.concat([this.#tail, part]);
    this.#tail = Buffer.from(joined.subarray(-EDGE_BYTES));
  }

  #finish(): void {
    const [head, tail, bytes, parts] = [this.#head, this.#tail, this.#bytes, this.#parts];
    this.#head = null;
    this.#tail = Buffer.alloc(0);
    this.#bytes = 0;
    this.#parts = [];
    if (head === null) {
      this.#sink.line((parts.length === 1 ? parts[0] : Buffer.concat(parts))?.toString('utf8') ?? '');
    } else {
      this.#sink.oversized({ head: head.toString('utf8'), tail: tail.toString('utf8'), bytes });
    }
  }
}
