import { decodeAs, markLength, type TextEncoding } from '../target/text-encoding.ts';
import type { Place } from './text-places.ts';

/**
 * The text of a file as an edit searches it: a character for each byte of UTF-8 after the byte-order mark, or for each
 * unit of UTF-16. Bytes need no decoding, take no second byte beside one character of a kind, and UTF-8 is made so that
 * whole characters are found in whole characters only.
 */
export function unitsOf(bytes: Buffer, encoding: TextEncoding): string {
  return isUtf16(encoding) ? decodeAs(bytes, encoding) : bytes.toString('latin1', markLength(encoding));
}

/** A text, which is well-formed, in the units of a file in this encoding. */
export function unitsOfText(text: string, encoding: TextEncoding): string {
  return isUtf16(encoding) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The bytes of a file with `replacement`, in units, at each of the places, which do not overlap. */
export function spliced(
  bytes: Buffer,
  { places, replacement }: { readonly places: readonly Place[]; readonly replacement: string },
  encoding: TextEncoding,
): Buffer {
  const mark = markLength(encoding);
  const unit = unitBytes(encoding);
  const inserted = bytesOfUnits(replacement, encoding);
  const removed = places.reduce((sum, { start, end }) => sum + end - start, 0) * unit;
  const result = Buffer.allocUnsafeSlow(bytes.length - removed + places.length * inserted.length);
  let from = 0;
  let to = 0;
  for (const { start, end } of places) {
    to += bytes.copy(result, to, from, mark + start * unit);
    to += inserted.copy(result, to);
    from = mark + end * unit;
  }
  bytes.copy(result, to, from);
  return result;
}

/** How many bytes a unit has. */
export function unitBytes(encoding: TextEncoding): 1 | 2 {
  return isUtf16(encoding) ? 2 : 1;
}

function bytesOfUnits(units: string, encoding: TextEncoding): Buffer {
  if (!isUtf16(encoding)) return Buffer.from(units, 'latin1');
  const bytes = Buffer.from(units, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

function isUtf16(encoding: TextEncoding): boolean {
  return encoding === 'utf-16le' || encoding === 'utf-16be';
}
