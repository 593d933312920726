import type { Attachment } from '@agentd/contract';
import { formatOf } from './media-formats.ts';

const MAX_BYTES = 255;
const MAX_STEM = 40;
const DIGEST_PREFIX = 12;

/** The last component of a path as an attachment keeps it: no control characters, at most 255 bytes; null for none. */
export function attachmentName(path: string | null): string | null {
  const last = path?.split('/').findLast((part) => part !== '') ?? '';
  const clean = last
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim();
  if (clean === '') return null;
  const bytes = Buffer.from(clean);
  // The end tells more than the beginning: it has the extension. A character cut in two is left out.
  return bytes.length <= MAX_BYTES
    ? clean
    : new TextDecoder().decode(bytes.subarray(-MAX_BYTES)).replace(/^\ufffd+/, '');
}

/**
 * Names for the files of a request, unique in it: Bedrock refuses a name that comes twice, and takes letters, digits
 * and hyphens only. The digest makes a name the same in every later request, whatever else goes out with it.
 */
export function requestNames(): (attachment: Attachment) => string {
  const taken = new Map<string, number>();
  return ({ sha256, filename, mime_type }) => {
    const digest = sha256.slice(0, DIGEST_PREFIX);
    const turn = (taken.get(digest) ?? 0) + 1;
    taken.set(digest, turn);
    const stem = (filename ?? '')
      .replace(/\.[^.]*$/, '')
      .replace(/[^A-Za-z0-9]+/g, '-')
      .slice(0, MAX_STEM)
      .replace(/^-+|-+$/g, '');
    const parts = [digest, ...(turn > 1 ? [String(turn)] : []), ...(stem === '' ? [] : [stem])];
    return `${parts.join('-')}.${formatOf(mime_type)?.extension ?? 'bin'}`;
  };
}
