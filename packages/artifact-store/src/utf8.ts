import { Buffer } from 'node:buffer';

/** Longest piece that is encoded at once, in UTF-16 units: bounds the memory that one giant text costs. */
const PIECE_UNITS = 64 * 1024;

/** A character of three bytes is one UTF-16 unit, one of four bytes is two. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Encodes a text that arrives in chunks. Every piece is well-formed UTF-8 of whole code points: a surrogate pair that
 * a chunk boundary cuts is joined again, and a lone surrogate becomes U+FFFD (OUT-14).
 */
export class TextPieces {
  #highSurrogate = '';

  *push(chunk: string): Generator<string> {
    const text = this.#highSurrogate + chunk;
    this.#highSurrogate = endsInHighSurrogate(text) ? text.slice(-1) : '';
    const end = text.length - this.#highSurrogate.length;
    let start = 0;
    while (start < end) {
      const stop = pieceEnd(text, start, end);
      yield text.slice(start, stop).toWellFormed();
      start = stop;
    }
  }

  /** What is left when no chunk follows. */
  flush(): string {
    const rest = this.#highSurrogate.toWellFormed();
    this.#highSurrogate = '';
    return rest;
  }
}

function endsInHighSurrogate(text: string): boolean {
  return isHighSurrogate(text.charCodeAt(text.length - 1));
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function pieceEnd(text: string, start: number, end: number): number {
  const stop = Math.min(start + PIECE_UNITS, end);
  return stop < end && isHighSurrogate(text.charCodeAt(stop - 1)) ? stop - 1 : stop;
}

let scratch: Buffer = Buffer.alloc(0);

/**
 * Encodes a piece into memory that the next piece takes over: gigabytes pass without garbage. Use it up before anything
 * is awaited.
 */
export function encodePiece(piece: string): Buffer {
  if (scratch.length === 0) scratch = Buffer.allocUnsafeSlow(PIECE_UNITS * MAX_BYTES_PER_UNIT);
  return scratch.subarray(0, scratch.write(piece));
}

/** The largest cut at or before `at` that splits no code point of the UTF-8 in `bytes`. */
export function cutBefore(bytes: Uint8Array, at: number): number {
  let cut = Math.min(at, bytes.length);
  while (cut > 0 && cut < bytes.length && isContinuation(bytes[cut])) cut -= 1;
  return cut;
}

/** The smallest cut at or after `at` that splits no code point of the UTF-8 in `bytes`. */
export function cutAfter(bytes: Uint8Array, at: number): number {
  let cut = Math.max(0, at);
  while (cut < bytes.length && isContinuation(bytes[cut])) cut += 1;
  return cut;
}

/** How many bytes at the end of `bytes` begin a code point that is not complete: 0 to 3. */
export function tornBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

const LINE_FEED = 0x0a;

/** One bit for each byte of a word that is zero, in the byte's highest place. */
function zeroBytes(word: number): number {
  return ~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word | 0x7f7f7f7f);
}

/**
 * How many LF the bytes hold. All output passes here, so it goes four bytes at a time: a tenth of the time of a plain
 * loop, and of `indexOf`, which costs a call a line.
 */
export function countLineFeeds(bytes: Uint8Array): number {
  const start = (4 - (bytes.byteOffset & 3)) & 3; // Words must lie at multiples of four.
  if (start >= bytes.length) return countOneByOne(bytes, 0, bytes.length);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, (bytes.length - start) >>> 2);
  let count = countOneByOne(bytes, 0, start) + countOneByOne(bytes, start + words.length * 4, bytes.length);
  for (let index = 0; index < words.length; index += 1) {
    const found = zeroBytes((words[index] ?? 0) ^ 0x0a0a0a0a);
    // The product adds the four bits up in its highest byte.
    if (found !== 0) count += Math.imul((found >>> 7) & 0x01010101, 0x01010101) >>> 24;
  }
  return count;
}

function countOneByOne(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index += 1) if (bytes[index] === LINE_FEED) count += 1;
  return count;
}

/** The index just past the `count`-th LF from `from`, or -1 where there are fewer. */
export function afterLineFeeds(bytes: Uint8Array, from: number, count: number): number {
  let end = from;
  for (let left = count; left > 0; left -= 1) {
    const found = bytes.indexOf(LINE_FEED, end);
    if (found === -1) return -1;
    end = found + 1;
  }
  return end;
}

export function encodeUtf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}

/** Whether the last line of the bytes lacks its LF. */
export function endsInLine(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.at(-1) !== LINE_FEED;
}
