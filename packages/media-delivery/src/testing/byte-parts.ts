/** Bytes, or text whose characters are bytes. */
export type Part = Uint8Array | string;

export const join = (...parts: readonly Part[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))),
  );

export const hex = (digits: string): Uint8Array =>
  Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'));

export const base64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));

export const zeros = (count: number): Uint8Array => new Uint8Array(count);

/** `part` over and over. */
export const repeat = (part: Uint8Array, count: number): Uint8Array =>
  new Uint8Array(Buffer.alloc(part.length * count, part));

/** `value` in `count` bytes, the highest first. */
export function be(value: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  for (let at = count - 1, rest = value; at >= 0; at -= 1, rest = Math.floor(rest / 256))
    bytes[at] = rest % 256;
  return bytes;
}

/** `value` in `count` bytes, the lowest first. */
export const le = (value: number, count: number): Uint8Array => be(value, count).toReversed();

/** Bytes without any pattern, the same for the same seed. */
export function noise(count: number, seed = 1): Uint8Array {
  // A global is looked up slowly inside a test runner: once, not for each byte.
  const { imul } = Math;
  const bytes = new Uint8Array(count);
  let state = seed;
  for (let at = 0; at < count; at += 1) {
    state = (imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}
