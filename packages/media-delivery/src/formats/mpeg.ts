import { ByteReader, startsWith } from './byte-reader.ts';
import { malformed } from './fault.ts';
import { imageSize, type MediaFacts } from './facts.ts';

const PACK = 0xba;
const SYSTEM = 0xbb;
const END = 0xb9;
const SEQUENCE = 0xb3;
const PICTURE = 0x00;
const FIRST_SLICE = 0x01;
const LAST_SLICE = 0xaf;

const START_CODE = Buffer.from([0, 0, 1]);

/** MPEG-1 and MPEG-2, as program stream or as bare video stream. */
export function walkMpeg(bytes: Uint8Array): MediaFacts {
  return bytes[3] === PACK ? walkProgram(bytes) : walkVideoStream(bytes);
}

/** What an MPEG file begins with. */
export const isMpeg = (head: Uint8Array): boolean =>
  startsWith(head, '\u0000\u0000\u0001\u00ba') || startsWith(head, '\u0000\u0000\u0001\u00b3');

function walkProgram(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes);
  let films = 0;
  while (reader.left > 0) {
    const { at } = reader;
    reader.part = `the packet at byte ${at}`;
    if (bytes[at] === 0 && bytes.subarray(at).every((byte) => byte === 0)) break;
    if (reader.u24be() !== 1) malformed(`no packet begins at byte ${at}`);
    const id = reader.u8();
    if (id === END) continue;
    if (id === PACK) skipPack(reader);
    else if (id >= SYSTEM) reader.skip(reader.u16be());
    else malformed(`at byte ${at} stands the start code ${id.toString(16).toUpperCase()} outside a packet`);
    if (id >= 0xe0 && id <= 0xef) films += 1;
  }
  if (films === 0) malformed('it has no video packet');
  return {};
}

function skipPack(reader: ByteReader): void {
  const { at } = reader;
  const first = reader.u8();
  if (first >> 6 === 1) {
    reader.skip(8);
    reader.skip(reader.u8() & 7);
  } else if (first >> 4 === 2) reader.skip(7);
  else malformed(`the pack header before byte ${at} is neither MPEG-1 nor MPEG-2`);
}

function walkVideoStream(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes, 4);
  reader.part = 'the sequence header';
  const size = reader.u24be();
  const facts = imageSize(size >> 12, size & 0xfff);
  if ((reader.u8() & 15) === 0) malformed('its sequence header has no frame rate');
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [pictures, slices, last] = [0, 0, SEQUENCE];
  for (let at = data.indexOf(START_CODE, 4); at >= 0; at = data.indexOf(START_CODE, at + 3)) {
    last = data[at + 3] ?? PICTURE;
    if (last === PICTURE) pictures += 1;
    if (last >= FIRST_SLICE && last <= LAST_SLICE) slices += 1;
    if (last >= END && last !== SYSTEM)
      malformed(`a program packet stands in the video stream at byte ${at}`);
  }
  if (pictures === 0 || slices === 0) malformed('it has no picture');
  if (last === PICTURE) malformed('it is cut off: its last picture has no slice');
  return facts;
}
