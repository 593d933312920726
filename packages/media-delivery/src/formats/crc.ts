// Checksums that node:zlib does not have: all run from the highest bit down, start at 0 and end as they are.

const CRC8 = tableOf(0x07, 8);
const CRC16 = tableOf(0x8005, 16);
const CRC32 = slicesOf(tableOf(0x04c11db7, 32));

/** FLAC's checksum of a frame header. */
export function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at += 1) crc = CRC8[crc ^ (bytes[at] ?? 0)] ?? 0;
  return crc;
}

/** FLAC's checksum of a frame, continued from `crc`; over a frame and its own checksum it is 0. */
export function crc16(crc: number, bytes: Uint8Array, { from, to }: Span): number {
  let sum = crc;
  for (let at = from; at < to; at += 1) {
    sum = ((sum << 8) & 0xffff) ^ (CRC16[(sum >> 8) ^ (bytes[at] ?? 0)] ?? 0);
  }
  return sum;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Ogg's checksum of a page part, continued from `crc`. */
export function oggCrc(crc: number, bytes: Uint8Array, { from, to }: Span): number {
  const [t0, t1, t2, t3] = CRC32;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = crc;
  let at = from;
  // Four bytes a step: a page is checked several times as fast as byte by byte.
  for (; at + 4 <= to; at += 4) {
    sum ^= view.getUint32(at);
    const high = (t3[sum >>> 24] ?? 0) ^ (t2[(sum >>> 16) & 0xff] ?? 0);
    sum = high ^ (t1[(sum >>> 8) & 0xff] ?? 0) ^ (t0[sum & 0xff] ?? 0);
  }
  for (; at < to; at += 1) sum = (sum << 8) ^ (t0[(sum >>> 24) ^ view.getUint8(at)] ?? 0);
  return sum >>> 0;
}

function tableOf(polynomial: number, width: number): Int32Array {
  const top = 1 << (width - 1);
  const mask = width === 32 ? -1 : (1 << width) - 1;
  return Int32Array.from({ length: 256 }, (_none, byte) => {
    let crc = byte << (width - 8);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & top) === 0 ? crc << 1 : (crc << 1) ^ polynomial;
    return crc & mask;
  });
}

function slicesOf(first: Int32Array): readonly [Int32Array, Int32Array, Int32Array, Int32Array] {
  const next = (table: Int32Array): Int32Array =>
    table.map((crc) => (crc << 8) ^ (first[(crc >>> 24) & 0xff] ?? 0));
  const second = next(first);
  const third = next(second);
  return [first, second, third, next(third)];
}
