import type { OutputChunk } from '@agentd/contract';

/** The bounds of one delta (OUT-8). */
export const MAX_DELTA_BYTES = 64 * 1024;
export const MAX_DELTA_CHUNKS = 8;

interface Piece {
  readonly stream: string;
  readonly text: string;
  readonly bytes: number;
}

/** Text on its way to the runtime, handed out in deltas within OUT-8. Keeps the order of each stream. */
export class DeltaQueue {
  #pieces: Piece[] = [];
  #bytes = 0;
  readonly #scratch = new Uint8Array(MAX_DELTA_BYTES);
  readonly #encoder = new TextEncoder();

  /** UTF-8 bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  push(stream: string, text: string): void {
    for (let rest = text; rest !== '';) {
      // encodeInto never cuts a character, and counts what fits without a second pass.
      const { read, written } = this.#encoder.encodeInto(rest, this.#scratch);
      this.#add({ stream, text: rest.slice(0, read), bytes: written });
      rest = rest.slice(read);
    }
  }

  /** The next delta; empty when nothing waits. */
  take(): readonly OutputChunk[] {
    const chunks = new DeltaChunks();
    const taken = this.#pieces.findIndex((piece) => !chunks.add(piece));
    this.#pieces = taken === -1 ? [] : this.#pieces.slice(taken);
    this.#bytes -= chunks.bytes;
    return chunks.list();
  }

  /** Joins small pieces at once, so that a program that prints byte by byte costs no object a byte. */
  #add(piece: Piece): void {
    const last = this.#pieces.at(-1);
    this.#bytes += piece.bytes;
    if (last?.stream === piece.stream && last.bytes + piece.bytes <= MAX_DELTA_BYTES) {
      const bytes = last.bytes + piece.bytes;
      this.#pieces[this.#pieces.length - 1] = { stream: piece.stream, text: last.text + piece.text, bytes };
    } else {
      this.#pieces.push(piece);
    }
  }
}

/** One delta while it is put together. */
class DeltaChunks {
  readonly #chunks: { stream: string; text: string }[] = [];
  bytes = 0;

  /** False when the piece must wait for the next delta. */
  add({ stream, text, bytes }: Piece): boolean {
    if (this.bytes + bytes > MAX_DELTA_BYTES) return false;
    const last = this.#chunks.at(-1);
    if (last?.stream === stream) last.text += text;
    else if (this.#chunks.length < MAX_DELTA_CHUNKS) this.#chunks.push({ stream, text });
    else return false;
    this.bytes += bytes;
    return true;
  }

  list(): readonly OutputChunk[] {
    return this.#chunks;
  }
}
