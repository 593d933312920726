import { ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';

/** GUIDs as they stand in the file, in hexadecimal. */
const HEADER = '3026b2758e66cf11a6d900aa0062ce6c';
const DATA = '3626b2758e66cf11a6d900aa0062ce6c';
const FILE_PROPERTIES = 'a1dcab8c47a9cf118ee400c00c205365';
const STREAM_PROPERTIES = '9107dcb7b7a9cf118ee600c00c205365';
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';

const DATA_HEADER = 26;
const OBJECT_HEADER = 24;

export const isAsf = (head: Uint8Array): boolean => hexOf(head.subarray(0, 16)) === HEADER;

/** Whether a film is announced in `head`; ASF without one is sound (WMA). */
export const hasAsfPictures = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, head.byteLength).includes(Buffer.from(VIDEO, 'hex'));

/** Every top-level object, what the header must hold, and that the packets are all there. */
export function walkAsf(bytes: Uint8Array): MediaFacts {
  const file = new ByteReader(bytes);
  const header = nextObject(file);
  if (header.id !== HEADER) malformed('it has no header object');
  const packetBytes = walkHeader(header.data);
  let dataObjects = 0;
  while (file.left > 0) {
    const { id, data } = nextObject(file);
    if (id !== DATA) continue;
    dataObjects += 1;
    checkPackets(data, packetBytes);
  }
  if (dataObjects !== 1) malformed(`it has ${dataObjects} data objects instead of one`);
  return {};
}

/** The fixed size of a packet. */
function walkHeader(header: ByteReader): number {
  const count = header.u32le();
  header.skip(2);
  let packetBytes = 0;
  let films = 0;
  for (let index = 0; index < count; index += 1) {
    const { id, data } = nextObject(header);
    if (id === FILE_PROPERTIES) {
      data.skip(68);
      packetBytes = data.u32le();
      if (data.u32le() !== packetBytes || packetBytes === 0) malformed('its packets have no fixed size');
    }
    if (id === STREAM_PROPERTIES && hexOf(data.take(16)) === VIDEO) films += 1;
  }
  if (header.left > 0) malformed(`${header.left} bytes follow the ${count} objects of its header`);
  if (packetBytes === 0) malformed('its header has no file properties');
  if (films === 0) malformed('it has no video stream');
  return packetBytes;
}

function checkPackets(data: ByteReader, packetBytes: number): void {
  data.skip(16);
  const count = data.u64le();
  data.skip(DATA_HEADER - 24);
  if (count === 0 ? data.left === 0 : data.left !== count * packetBytes) {
    malformed(`its data object says ${count} packets of ${packetBytes} bytes and holds ${data.left} bytes`);
  }
}

function nextObject(reader: ByteReader): { readonly id: string; readonly data: ByteReader } {
  const { at } = reader;
  reader.part = `the object at byte ${at}`;
  const id = hexOf(reader.take(16));
  const size = reader.u64le();
  if (size < OBJECT_HEADER) malformed(`the object at byte ${at} says a size of ${size} bytes`);
  return { id, data: reader.within(size - OBJECT_HEADER, `the object at byte ${at}`) };
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
