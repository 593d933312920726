import { startsWith } from './byte-reader.ts';

const ID3_HEADER = 10;
const APE_HEADER = 32;
const ID3V1_BYTES = 128;
const LYRICS_TRAILER = 15;

/** How many bytes one tag at the beginning takes, as its header says; 0 where none begins at `at`. */
export function leadingTag(bytes: Uint8Array, at: number): number {
  if (startsWith(bytes, 'ID3', at) && bytes.length - at >= ID3_HEADER) {
    const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0;
    return ID3_HEADER + syncSafe(bytes, at + 6) + (hasFooter ? ID3_HEADER : 0);
  }
  if (startsWith(bytes, 'APETAGEX', at) && bytes.length - at >= APE_HEADER) {
    return APE_HEADER + u32le(bytes, at + 12);
  }
  return 0;
}

/** Where the sound begins, behind every tag and the zeros that some writers leave after it. */
export function soundStart(bytes: Uint8Array): number {
  let at = 0;
  for (let tag = leadingTag(bytes, at); tag > 0 && at < bytes.length; tag = leadingTag(bytes, at)) at += tag;
  if (at > 0) while (at < bytes.length && bytes[at] === 0) at += 1;
  return at;
}

/** Where the sound ends, before every tag at the end: ID3v1, APEv2, Lyrics3 and ID3v2 with a footer, in any order. */
export function soundEnd(bytes: Uint8Array): number {
  let end = bytes.length;
  for (let tag = trailingTag(bytes, end); tag > 0 && tag <= end; tag = trailingTag(bytes, end)) end -= tag;
  return end;
}

function trailingTag(bytes: Uint8Array, end: number): number {
  if (end >= ID3V1_BYTES && startsWith(bytes, 'TAG', end - ID3V1_BYTES)) return ID3V1_BYTES;
  if (end >= APE_HEADER && startsWith(bytes, 'APETAGEX', end - APE_HEADER)) {
    const hasHeader = ((bytes[end - 9] ?? 0) & 0x80) !== 0;
    return Math.max(APE_HEADER, u32le(bytes, end - 20)) + (hasHeader ? APE_HEADER : 0);
  }
  if (end >= LYRICS_TRAILER && startsWith(bytes, 'LYRICS200', end - 9)) {
    const size = Number(String.fromCharCode(...bytes.subarray(end - LYRICS_TRAILER, end - 9)));
    return Number.isInteger(size) ? size + LYRICS_TRAILER : 0;
  }
  if (end >= ID3_HEADER && startsWith(bytes, '3DI', end - ID3_HEADER)) {
    return syncSafe(bytes, end - 4) + 2 * ID3_HEADER;
  }
  return 0;
}

const syncSafe = (bytes: Uint8Array, at: number): number =>
  bytes.subarray(at, at + 4).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);

const u32le = (bytes: Uint8Array, at: number): number =>
  bytes.subarray(at, at + 4).reduceRight((size, byte) => size * 256 + byte, 0);
