import { ByteReader } from './byte-reader.ts';
import { crc16, crc8 } from './crc.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';
import { soundEnd, soundStart } from './tags.ts';

/** Header without numbers and checksum, and the longest of it all. */
const FIXED_HEADER = 4;
const MAX_NUMBER = 7;

/** Bytes behind the header for a block size or a sample rate that has no code of its own. */
const SIZE_BYTES: Readonly<Record<number, number>> = { 6: 1, 7: 2 };
const RATE_BYTES: Readonly<Record<number, number>> = { 12: 1, 13: 2, 14: 2 };

/** Metadata blocks, then every frame by its two checksums, then the count of samples. */
export function walkFlac(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes, soundStart(bytes), soundEnd(bytes));
  reader.part = 'the marker "fLaC"';
  reader.skip(4);
  const totalSamples = metadata(reader);
  const samples = walkFrames(reader);
  if (totalSamples > 0 && samples !== totalSamples) {
    malformed(`its header says ${totalSamples} samples and its frames hold ${samples}`);
  }
  return {};
}

/** How many samples the file announces; 0 for unknown. */
function metadata(reader: ByteReader): number {
  let totalSamples: number | undefined;
  for (let isLast = false; !isLast;) {
    reader.part = 'a metadata block';
    const head = reader.u8();
    isLast = head >= 0x80;
    const type = head & 0x7f;
    const block = reader.within(reader.u24be(), `the metadata block of type ${type}`);
    if (type === 0x7f) malformed('it has a metadata block of a forbidden type');
    if (totalSamples !== undefined) continue;
    if (type !== 0 || block.left !== 34) malformed('its first metadata block is no stream info');
    block.skip(13);
    // 36 bits, of which four share a byte with the sample size.
    totalSamples = (block.u8() & 15) * 0x1_0000_0000 + block.u32be();
  }
  return totalSamples ?? 0;
}

function walkFrames(reader: ByteReader): number {
  const { bytes, end } = reader;
  let frame = reader.at;
  let header = frameHeader(bytes, frame, end);
  if (header === undefined) malformed(`no frame stands at byte ${frame}`);
  let samples = header.samples;
  let [crc, summed] = [0, frame];
  for (let at = bytes.indexOf(0xff, frame + 1); at >= 0 && at < end; at = bytes.indexOf(0xff, at + 1)) {
    header = frameHeader(bytes, at, end);
    if (header === undefined) continue;
    crc = crc16(crc, bytes, { from: summed, to: at });
    summed = at;
    // Sound may look like a header; the checksum of what lies before tells.
    if (crc !== 0) continue;
    frame = at;
    samples += header.samples;
  }
  crc = crc16(crc, bytes, { from: summed, to: end });
  if (crc !== 0) malformed(`the frame at byte ${frame} is cut off or has a wrong checksum`);
  return samples;
}

/** A frame header whose checksum is right; undefined for anything else. */
function frameHeader(bytes: Uint8Array, at: number, end: number): { readonly samples: number } | undefined {
  // Sound may consist of nothing but what looks like the beginning of one: nothing is made before that is ruled out.
  if (!isHeader(bytes, at)) return undefined;
  const codes = bytes[at + 2] ?? 0;
  const [size, rate] = [codes >> 4, codes & 15];
  const numbers = at + FIXED_HEADER + numberBytes(bytes[at + FIXED_HEADER] ?? 0);
  const sum = numbers + (SIZE_BYTES[size] ?? 0) + (RATE_BYTES[rate] ?? 0);
  if (sum >= end || crc8(bytes, at, sum) !== bytes[sum]) return undefined;
  return { samples: blockSamples(size, bytes, numbers) };
}

/** Whether no reserved bit or code is set. */
function isHeader(bytes: Uint8Array, at: number): boolean {
  if (((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) return false;
  const codes = bytes[at + 2] ?? 0;
  const hasCodes = codes >> 4 > 0 && (codes & 15) < 15;
  return hasCodes && ((bytes[at + 3] ?? 1) & 1) === 0 && numberBytes(bytes[at + FIXED_HEADER] ?? 0xff) > 0;
}

function blockSamples(code: number, bytes: Uint8Array, at: number): number {
  if (code === 1) return 192;
  if (code === 6) return (bytes[at] ?? 0) + 1;
  if (code === 7) return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0) + 1;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
}

/** Length of the number coded like UTF-8, from its first byte; 0 for none. */
function numberBytes(first: number): number {
  if (first < 0x80) return 1;
  const ones = Math.clz32(~(first << 24));
  return ones >= 2 && ones <= MAX_NUMBER ? ones : 0;
}
