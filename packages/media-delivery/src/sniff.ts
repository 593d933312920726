import type { MediaBytes } from '@agentd/contract';
import { hasAsfPictures, isAsf } from './formats/asf.ts';
import { startsWith } from './formats/byte-reader.ts';
import { isoType } from './formats/iso-brand.ts';
import { docType } from './formats/matroska.ts';
import { hasFrames } from './formats/mp3.ts';
import { isMpeg } from './formats/mpeg.ts';
import { hasOggPictures } from './formats/ogg.ts';
import { leadingTag } from './formats/tags.ts';
import { formatOf, type MediaFormat } from './media-formats.ts';
import { isText } from './text.ts';

/** What is looked at first: enough for every signature, for brands, and to tell text. */
export const HEAD_BYTES = 64 * 1024;

/** Tags in front of the sound; more in a row are nobody's music. */
const MAX_TAGS = 8;
const PACKET_BYTES = 188;
const PACKETS_TO_TRUST = 3;

/** What bytes are, judged by themselves alone (MED-1). */
export type Sniffed =
  | { readonly type: 'media'; readonly format: MediaFormat }
  /** A medium, and none of the kinds: `mimeType` or a few words name it. */
  | { readonly type: 'foreign'; readonly mimeType: string }
  | { readonly type: 'other' };

const OTHER: Sniffed = { type: 'other' };

type Signature = readonly [bytes: string, mimeType: string];

const SIGNATURES: readonly Signature[] = [
  ['\u0089PNG\r\n\u001a\n', 'image/png'],
  ['\u00ff\u00d8\u00ff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['%PDF-', 'application/pdf'],
  ['fLaC', 'audio/flac'],
  ['FLV\u0001', 'video/x-flv'],
];

const RIFF_FORMS: Readonly<Record<string, string>> = {
  WEBP: 'image/webp',
  WAVE: 'audio/wav',
  'AVI ': 'video/x-msvideo',
};

/** Media that no provider takes and that a signature tells. */
const FOREIGN: readonly Signature[] = [
  ['BM', 'image/bmp'],
  ['II*\u0000', 'image/tiff'],
  ['MM\u0000*', 'image/tiff'],
  ['\u0000\u0000\u0001\u0000', 'image/x-icon'],
  ['\u0000\u0000\u0002\u0000', 'image/x-icon'],
];

/** Tells what `content` is. Reads its first page, and one more behind each tag of a sound file. */
export async function sniff(content: MediaBytes, signal: AbortSignal): Promise<Sniffed> {
  const head = await content.read(0, HEAD_BYTES, signal);
  const isPdf = startsWith(head, '%PDF-');
  // Before any signature: "GIF89a is a format" is a sentence, and so is a page of SVG (field A8).
  if (head.length === 0 || (isText(head) && !isPdf)) return OTHER;
  if (leadingTag(head, 0) > 0) return sniffTagged(content, head, signal);
  const known = knownType(head);
  if (known !== undefined) return named(known);
  return named(foreignType(head) ?? (await typeByLibrary(head)));
}

function knownType(head: Uint8Array): string | undefined {
  const signed = SIGNATURES.find(([bytes]) => startsWith(head, bytes))?.[1];
  if (signed !== undefined) return signed;
  if (startsWith(head, 'RIFF')) return RIFF_FORMS[String.fromCharCode(...head.subarray(8, 12))];
  if (startsWith(head, 'OggS')) return hasOggPictures(head) ? 'video/ogg' : 'audio/ogg';
  if (startsWith(head, '\u001aE\u00df\u00a3')) return matroskaType(head);
  if (isAsf(head)) return hasAsfPictures(head) ? 'video/wmv' : 'audio/x-ms-wma';
  if (isMpeg(head)) return 'video/mpeg';
  return isoType(head) ?? (hasFrames(head) ? 'audio/mpeg' : undefined);
}

function matroskaType(head: Uint8Array): string {
  const type = docType(head);
  if (type === 'webm') return 'video/webm';
  return type === undefined || type === 'matroska'
    ? 'video/x-matroska'
    : `EBML of type ${JSON.stringify(type)}`;
}

/** A tag says nothing of what follows it: mostly MP3, sometimes FLAC, sometimes AAC. */
async function sniffTagged(content: MediaBytes, head: Uint8Array, signal: AbortSignal): Promise<Sniffed> {
  let at = 0;
  let page = head;
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    const tag = leadingTag(page, 0);
    if (tag === 0) break;
    at += tag;
    page = at < content.byteLength ? await content.read(at, HEAD_BYTES, signal) : new Uint8Array();
  }
  if (startsWith(page, 'fLaC')) return named('audio/flac');
  const isAac = page[0] === 0xff && ((page[1] ?? 0) & 0xf6) === 0xf0;
  return named(isAac ? 'audio/aac' : 'audio/mpeg');
}

function foreignType(head: Uint8Array): string | undefined {
  return isTransportStream(head) ? 'video/mp2t' : FOREIGN.find(([bytes]) => startsWith(head, bytes))?.[1];
}

/** Packets of 188 bytes, or of 192 with a time stamp before each (field A10). */
function isTransportStream(head: Uint8Array): boolean {
  return [PACKET_BYTES, PACKET_BYTES + 4].some((step) => {
    const first = step - PACKET_BYTES;
    const count = Math.ceil((head.length - first) / step);
    if (count < PACKETS_TO_TRUST) return false;
    for (let packet = 0; packet < count; packet += 1) if (head[first + packet * step] !== 0x47) return false;
    return true;
  });
}

/** Names the many media that are no kinds. Of the kinds themselves our own signatures know more. */
async function typeByLibrary(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head.subarray(0, 4100)).catch(() => undefined);
  const mimeType = found?.mime.replace(/;.*$/, '') ?? '';
  const isMedium = /^(?:image|audio|video)\//.test(mimeType);
  return isMedium && formatOf(mimeType) === undefined ? mimeType : undefined;
}

function named(mimeType: string | undefined): Sniffed {
  if (mimeType === undefined) return OTHER;
  const format = formatOf(mimeType);
  return format === undefined ? { type: 'foreign', mimeType } : { type: 'media', format };
}
