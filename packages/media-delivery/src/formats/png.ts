import { crc32 } from 'node:zlib';
import { ByteReader, shown } from './byte-reader.ts';
import { malformed } from './fault.ts';
import { imageSize, type MediaFacts } from './facts.ts';

const SIGNATURE_BYTES = 8;

/** Bit depths that each colour type allows. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

const CRITICAL = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND']);

/** Every chunk with its checksum, in the order that PNG wants, up to an IEND that ends the file. */
export function walkPng(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes, SIGNATURE_BYTES);
  const { facts, colourType } = header(reader);
  const seen = new Set(['IHDR']);
  let last = 'IHDR';
  while (last !== 'IEND') {
    const { type, data } = chunk(reader);
    checkOrder(type, last, seen);
    if (type === 'IDAT' && last !== 'IDAT') firstData(data);
    seen.add(type);
    last = type;
  }
  if (!seen.has('IDAT')) malformed('it has no image data (IDAT)');
  if (colourType === 3 && !seen.has('PLTE')) malformed('it is indexed and has no palette (PLTE)');
  if (reader.left > 0) malformed(`${reader.left} bytes follow its end (IEND)`);
  return facts;
}

function checkOrder(type: string, last: string, seen: ReadonlySet<string>): void {
  if (isUpperCase(type) && !CRITICAL.has(type)) malformed(`it has the unknown critical chunk ${type}`);
  if (type === 'IHDR') malformed('it has a second IHDR chunk');
  if (type === 'IDAT' && last !== 'IDAT' && seen.has('IDAT')) malformed('its IDAT chunks are not together');
  if (type === 'PLTE' && seen.has('IDAT')) malformed('its palette stands after the image data');
}

function header(reader: ByteReader): { readonly facts: MediaFacts; readonly colourType: number } {
  reader.part = 'the IHDR chunk';
  const length = reader.u32be();
  if (reader.ascii(4) !== 'IHDR' || length !== 13) malformed('its first chunk is no IHDR of 13 bytes');
  // The size counts even where the rest is missing: that is what a bomb is made of.
  const facts = imageSize(reader.u32be(), reader.u32be());
  const [depth, colourType, compression, filter, interlace] = [...reader.take(5)];
  if (colourType === undefined || DEPTHS[colourType]?.includes(depth ?? 0) !== true) {
    malformed(`its header has colour type ${colourType} with ${depth} bits`);
  }
  if (compression !== 0 || filter !== 0 || (interlace ?? 2) > 1) malformed('its header has unknown methods');
  checksum(reader, 'IHDR', reader.at - 17);
  return { facts, colourType };
}

function chunk(reader: ByteReader): { readonly type: string; readonly data: Uint8Array } {
  reader.part = 'the file (no IEND yet)';
  reader.countPart();
  const length = reader.u32be();
  const from = reader.at;
  const type = reader.ascii(4);
  if (!/^[A-Za-z]{4}$/.test(type)) malformed(`at byte ${from} stands "${shown(type)}" where a chunk begins`);
  reader.part = `the ${type} chunk`;
  const data = reader.take(length);
  checksum(reader, type, from);
  if (type === 'IEND' && length > 0) malformed('its IEND chunk is not empty');
  return { type, data };
}

function checksum(reader: ByteReader, type: string, from: number): void {
  const covered = reader.bytes.subarray(from, reader.at);
  if (reader.u32be() !== crc32(covered)) malformed(`the ${type} chunk at byte ${from} has a wrong checksum`);
}

function firstData(data: Uint8Array): void {
  const [method = 0, flags = 0] = data;
  // An empty IDAT may come first; the zlib header is then in a later one.
  if (data.length < 2) return;
  if ((method & 15) !== 8 || ((method << 8) | flags) % 31 !== 0)
    malformed('its image data is no zlib stream');
}

const isUpperCase = (type: string): boolean => type.charCodeAt(0) < 0x61;
