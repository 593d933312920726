import { ByteReader, shown } from './byte-reader.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf']);
const MAX_DEPTH = 12;

interface Found {
  /** How often each box was met. */
  readonly boxes: Map<string, number>;
  readonly handlers: Set<string>;
}

interface Box {
  readonly type: string;
  readonly data: ByteReader;
}

/** Every box of MP4, QuickTime and 3GPP: header, tracks with a film among them, data that lies in the file. */
export function walkIsoMedia(bytes: Uint8Array): MediaFacts {
  const found: Found = { boxes: new Map(), handlers: new Set() };
  const file = new ByteReader(bytes);
  while (file.left > 0) walkBox(nextBox(file), found, 0);
  for (const [type, what] of [
    ['moov', 'movie header'],
    ['trak', 'track'],
    ['mdat', 'data'],
  ] as const) {
    if (!found.boxes.has(type)) malformed(`it has no ${what} ("${type}")`);
  }
  if (!found.handlers.has('vide')) malformed('it has no video track; sound alone (audio/mp4) is not taken');
  return {};
}

function walkBox({ type, data }: Box, found: Found, depth: number): void {
  if (depth > MAX_DEPTH) malformed(`its boxes nest more than ${MAX_DEPTH} deep`);
  found.boxes.set(type, (found.boxes.get(type) ?? 0) + 1);
  if (type === 'hdlr') found.handlers.add(handlerOf(data));
  if (type === 'stco') checkOffsets(data, false);
  if (type === 'co64') checkOffsets(data, true);
  if (!CONTAINERS.has(type)) return;
  while (data.left > 0) {
    // QuickTime closes some lists with four zero bytes.
    if (data.left === 4 && data.u32be() === 0) return;
    walkBox(nextBox(data), found, depth + 1);
  }
}

function nextBox(reader: ByteReader): Box {
  const { at } = reader;
  reader.part = `the box at byte ${at}`;
  const short = reader.u32be();
  const type = reader.ascii(4);
  if (!/^[\x20-\x7e\xa9]{4}$/.test(type))
    malformed(`at byte ${at} stands "${shown(type)}" where a box begins`);
  const size = short === 1 ? reader.u64be() : short === 0 ? reader.end - at : short;
  const header = reader.at - at;
  if (size < header) malformed(`the box "${shown(type)}" at byte ${at} says a size of ${size} bytes`);
  return { type, data: reader.within(size - header, `the box "${shown(type)}" at byte ${at}`) };
}

function handlerOf(data: ByteReader): string {
  data.skip(8);
  return data.ascii(4);
}

function checkOffsets(data: ByteReader, isLong: boolean): void {
  data.skip(4);
  const table = data.within(data.u32be() * (isLong ? 8 : 4), 'the chunk table');
  while (table.left > 0) {
    const offset = isLong ? table.u64be() : table.u32be();
    if (offset >= table.bytes.length) malformed(`its chunk table points to byte ${offset}, behind the end`);
  }
}
