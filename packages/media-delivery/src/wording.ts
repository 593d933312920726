import type { MediaKind } from '@agentd/contract';
import { roundSize } from './limits.ts';

const PLURAL: Readonly<Record<MediaKind, string>> = {
  image: 'images',
  pdf: 'PDFs',
  audio: 'audio',
  video: 'video',
};

export const plural = (kind: MediaKind): string => PLURAL[kind];

/** Longer names than this say nothing more to a reader. */
const MAX_NAME = 200;

/** A name as it may stand in a message, in quotes and without control characters; "the content" for none. */
export function quoted(name: string | null): string {
  if (name === null) return 'the content';
  return JSON.stringify(
    name.length > MAX_NAME ? `…${name.slice(-MAX_NAME).toWellFormed()}` : name.toWellFormed(),
  );
}

/** `"shot.png" (image/png, 1.2 MiB)`. */
export const described = (name: string | null, mimeType: string, byteLength: number): string =>
  `${quoted(name)} (${mimeType}, ${roundSize(byteLength)})`;
