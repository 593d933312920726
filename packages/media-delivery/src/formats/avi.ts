import { shown, type ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';
import { nextChunk, riffBody } from './riff.ts';

/** Lists nest three deep in real files. */
const MAX_DEPTH = 8;

/** Every RIFF part (OpenDML files have several), its lists and chunks; a header list and a movie list. */
export function walkAvi(bytes: Uint8Array): MediaFacts {
  const lists = new Set<string>();
  for (let at = 0, part = 0; at < bytes.length; part += 1) {
    const body = riffBody(bytes, at, false);
    const form = String.fromCharCode(...bytes.subarray(at + 8, at + 12));
    const expected = part === 0 ? 'AVI ' : 'AVIX';
    if (form !== expected) malformed(`its part ${part + 1} is "${shown(form)}" and not "${expected}"`);
    walkList(body, lists, 0);
    at = body.end + ((body.end - at) % 2);
  }
  if (!lists.has('hdrl')) malformed('it has no header list ("hdrl")');
  if (!lists.has('vids')) malformed('it has no video stream ("vids")');
  if (!lists.has('movi')) malformed('it has no movie data ("movi")');
  return {};
}

function walkList(body: ByteReader, lists: Set<string>, depth: number): void {
  if (depth > MAX_DEPTH) malformed(`its lists nest more than ${MAX_DEPTH} deep`);
  while (body.left > 0) {
    const { id, data } = nextChunk(body);
    if (id === 'strh' && data.ascii(4) === 'vids') lists.add('vids');
    if (id !== 'LIST') continue;
    const type = data.ascii(4);
    lists.add(type);
    walkList(data, lists, depth + 1);
  }
}
