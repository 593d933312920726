import { malformed, oversized } from './fault.ts';

/**
 * Chunks, boxes, elements and the like of one file. A film of 25 MiB has some ten thousand; a file of nothing but empty
 * ones would hold everyone else up for seconds.
 */
const MAX_PARTS = 300_000;

/**
 * Reads forward through a stretch of bytes. Every read past the end is a format fault that names `part`, so a walk
 * sets `part` to what it is about to read and never checks lengths itself.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  /** The first byte that is not part of the stretch. */
  readonly end: number;
  /** Of the next byte, counted from the beginning of the file. */
  at: number;
  part = 'the file';
  readonly #view: DataView;
  /** Shared by all readers of one walk. */
  #parts = { count: 0 };

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.end - this.at;
  }

  skip(count: number): number {
    const from = this.at;
    if (count > this.end - from) {
      malformed(`${this.part} is cut off: at byte ${from} it needs ${count} more, and ${this.left} are left`);
    }
    this.at = from + count;
    return from;
  }

  /** The next `count` bytes as a stretch of their own, in which `part` is `what`. */
  within(count: number, what: string): ByteReader {
    this.part = what;
    this.countPart();
    const from = this.skip(count);
    const inner = new ByteReader(this.bytes, from, from + count);
    inner.part = what;
    inner.#parts = this.#parts;
    return inner;
  }

  /** Counts a part of the file that is not read through `within`. */
  countPart(): void {
    this.#parts.count += 1;
    if (this.#parts.count > MAX_PARTS) oversized(`it consists of more than ${MAX_PARTS} parts`);
  }

  take(count: number): Uint8Array {
    const from = this.skip(count);
    return this.bytes.subarray(from, from + count);
  }

  ascii(count: number): string {
    return String.fromCharCode(...this.take(count));
  }

  u8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  u16be(): number {
    return this.#view.getUint16(this.skip(2));
  }

  u16le(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  u24be(): number {
    return this.u8() * 0x10000 + this.u16be();
  }

  u24le(): number {
    return this.u16le() + this.u8() * 0x10000;
  }

  u32be(): number {
    return this.#view.getUint32(this.skip(4));
  }

  u32le(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  /** Exact up to 2^53, which is beyond any file; larger values stay large. */
  u64be(): number {
    return this.u32be() * 0x1_0000_0000 + this.u32be();
  }

  u64le(): number {
    return this.u32le() + this.u32le() * 0x1_0000_0000;
  }
}

/** Text as it may stand in a message: what cannot be shown becomes a dot. */
export function shown(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '.');
}

/** Whether `ascii` stands at `at`. */
export function startsWith(bytes: Uint8Array, ascii: string, at = 0): boolean {
  if (at + ascii.length > bytes.length) return false;
  for (let index = 0; index < ascii.length; index += 1) {
    if (bytes[at + index] !== ascii.charCodeAt(index)) return false;
  }
  return true;
}
