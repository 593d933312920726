import { ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';

const TAG_HEADER = 11;
const AUDIO = 8;
const VIDEO = 9;
const SCRIPT = 18;

/** Every tag with the length that repeats behind it. */
export function walkFlv(bytes: Uint8Array): MediaFacts {
  const reader = new ByteReader(bytes, 5);
  reader.part = 'the header';
  const headerBytes = reader.u32be();
  if (headerBytes !== 9 || reader.u32be() !== 0) malformed('its header is not followed by the first tag');
  let films = 0;
  while (reader.left > 0) if (skipTag(reader) === VIDEO) films += 1;
  if (films === 0) malformed('it has no video tag');
  return {};
}

function skipTag(reader: ByteReader): number {
  const { at } = reader;
  reader.part = `the tag at byte ${at}`;
  const type = reader.u8() & 0x1f;
  if (type !== AUDIO && type !== VIDEO && type !== SCRIPT)
    malformed(`at byte ${at} stands ${type} where a tag begins`);
  const size = reader.u24be();
  reader.skip(7 + size);
  const repeated = reader.u32be();
  if (repeated !== size + TAG_HEADER)
    malformed(`the tag at byte ${at} has ${size + TAG_HEADER} bytes and says ${repeated}`);
  return type;
}
