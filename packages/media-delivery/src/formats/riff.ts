import { ByteReader, shown } from './byte-reader.ts';
import { malformed } from './fault.ts';

export interface RiffChunk {
  readonly id: string;
  readonly data: ByteReader;
}

/** What one RIFF chunk at `at` holds after its form type; the file must end with it when `isWhole`. */
export function riffBody(bytes: Uint8Array, at = 0, isWhole = true): ByteReader {
  const reader = new ByteReader(bytes, at);
  reader.part = 'the RIFF header';
  if (reader.ascii(4) !== 'RIFF') malformed(`no RIFF chunk stands at byte ${at}`);
  const size = reader.u32le();
  if (size === 0xffff_ffff) malformed('its RIFF header leaves the length open, as writers to a pipe do');
  if (size < 4) malformed(`the RIFF header says ${size} bytes`);
  const body = reader.within(size, `the RIFF chunk of ${size} bytes`);
  body.skip(4);
  if (isWhole && reader.left > padding(size)) malformed(`${reader.left} bytes follow the RIFF chunk`);
  return body;
}

/** The next chunk; the reader stands behind it and its padding. */
export function nextChunk(body: ByteReader): RiffChunk {
  body.part = 'a chunk header';
  const at = body.at;
  const id = body.ascii(4);
  if (!/^[\x20-\x7e]{4}$/.test(id)) malformed(`at byte ${at} stands "${shown(id)}" where a chunk begins`);
  const size = body.u32le();
  const data = body.within(size, `the chunk "${shown(id)}"`);
  // Writers forget the padding of the very last chunk.
  body.skip(Math.min(padding(size), body.left));
  return { id, data };
}

const padding = (size: number): number => size % 2;
