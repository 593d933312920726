import type { MediaKind } from '@agentd/contract';
import type { Walk } from './formats/facts.ts';
import { walkAsf } from './formats/asf.ts';
import { walkAvi } from './formats/avi.ts';
import { walkFlac } from './formats/flac.ts';
import { walkFlv } from './formats/flv.ts';
import { walkGif } from './formats/gif.ts';
import { walkIsoMedia } from './formats/iso-media.ts';
import { walkJpeg } from './formats/jpeg.ts';
import { walkMatroska } from './formats/matroska.ts';
import { walkMp3 } from './formats/mp3.ts';
import { walkMpeg } from './formats/mpeg.ts';
import { walkOgg } from './formats/ogg.ts';
import { walkPdf } from './formats/pdf/pdf.ts';
import { walkPng } from './formats/png.ts';
import { walkWav } from './formats/wav.ts';
import { walkWebp } from './formats/webp.ts';

export interface MediaFormat {
  readonly kind: MediaKind;
  /** What people call it. */
  readonly label: string;
  readonly mimeType: string;
  /** For file names, without a dot. */
  readonly extension: string;
  readonly walk: Walk;
}

const image = (label: string, extension: string, walk: Walk): MediaFormat => ({
  kind: 'image',
  label,
  mimeType: `image/${extension === 'jpg' ? 'jpeg' : extension}`,
  extension,
  walk,
});

type Entry = readonly [label: string, mimeType: string, extension: string, walk: Walk];

const ofKind =
  (kind: MediaKind) =>
  ([label, mimeType, extension, walk]: Entry): MediaFormat => ({ kind, label, mimeType, extension, walk });

const AUDIO: readonly Entry[] = [
  ['MP3', 'audio/mpeg', 'mp3', walkMp3],
  ['WAV', 'audio/wav', 'wav', walkWav],
  ['Ogg', 'audio/ogg', 'ogg', walkOgg],
  ['FLAC', 'audio/flac', 'flac', walkFlac],
];

const VIDEO: readonly Entry[] = [
  ['MP4', 'video/mp4', 'mp4', walkIsoMedia],
  ['MOV', 'video/quicktime', 'mov', walkIsoMedia],
  ['WebM', 'video/webm', 'webm', walkMatroska],
  ['MKV', 'video/x-matroska', 'mkv', walkMatroska],
  ['AVI', 'video/x-msvideo', 'avi', walkAvi],
  ['FLV', 'video/x-flv', 'flv', walkFlv],
  ['MPEG', 'video/mpeg', 'mpg', walkMpeg],
  ['WMV', 'video/wmv', 'wmv', walkAsf],
  ['3GPP', 'video/3gpp', '3gp', walkIsoMedia],
];

/** Every format that can become an attachment, in the order in which errors name them (MED-1). */
export const MEDIA_FORMATS: readonly MediaFormat[] = [
  image('PNG', 'png', walkPng),
  image('JPEG', 'jpg', walkJpeg),
  image('GIF', 'gif', walkGif),
  image('WebP', 'webp', walkWebp),
  { kind: 'pdf', label: 'PDF', mimeType: 'application/pdf', extension: 'pdf', walk: walkPdf },
  ...AUDIO.map(ofKind('audio')),
  ...VIDEO.map(ofKind('video')),
];

const BY_TYPE: ReadonlyMap<string, MediaFormat> = new Map(
  MEDIA_FORMATS.map((format) => [format.mimeType, format]),
);

/** The format of a MIME type as attachments carry it; undefined for any other. */
export const formatOf = (mimeType: string): MediaFormat | undefined => BY_TYPE.get(mimeType);

/** "images (PNG, JPEG, GIF, WebP), PDF, audio (MP3, …), video (MP4, …)". */
export function acceptedKinds(): string {
  const labels = (kind: MediaKind): string =>
    MEDIA_FORMATS.filter((format) => format.kind === kind)
      .map(({ label }) => label)
      .join(', ');
  return `images (${labels('image')}), PDF, audio (${labels('audio')}) and video (${labels('video')})`;
}
