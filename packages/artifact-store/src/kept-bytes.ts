import { Buffer } from 'node:buffer';

const FIRST_SIZE = 1024;

/** The first `capacity` bytes of what is pushed. */
export class HeadBytes {
  readonly #capacity: number;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(bytes: Uint8Array): void {
    const taken = bytes.subarray(0, this.#capacity - this.#length);
    if (taken.length === 0) return;
    this.#buffer = withRoom(this.#buffer, this.#length, this.#length + taken.length);
    this.#buffer.set(taken, this.#length);
    this.#length += taken.length;
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** A view, valid until the next change. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** The last `capacity` bytes of what is pushed. Each byte is moved at most twice. */
export class TailBytes {
  readonly #capacity: number;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(bytes: Uint8Array): void {
    const taken = bytes.subarray(Math.max(0, bytes.length - this.#capacity));
    if (this.#length + taken.length > 2 * this.#capacity) this.#keep(this.#capacity - taken.length);
    this.#buffer = withRoom(this.#buffer, this.#length, this.#length + taken.length);
    this.#buffer.set(taken, this.#length);
    this.#length += taken.length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** A view, valid until the next change. */
  get bytes(): Buffer {
    return this.#buffer.subarray(Math.max(0, this.#length - this.#capacity), this.#length);
  }

  #keep(count: number): void {
    this.#buffer.copyWithin(0, this.#length - count, this.#length);
    this.#length = count;
  }
}

/** Grows by doubling, so that short output costs little however large the limits are. */
function withRoom(buffer: Buffer, used: number, needed: number): Buffer {
  if (needed <= buffer.length) return buffer;
  const grown = Buffer.allocUnsafe(Math.max(needed, buffer.length * 2, FIRST_SIZE));
  buffer.copy(grown, 0, 0, used);
  return grown;
}
