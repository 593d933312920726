import { repeat, hex, join, noise, zeros } from './byte-parts.ts';
import {
  asfSample,
  aviSample,
  flvSample,
  isoSample,
  matroskaSample,
  mpegSample,
  mpegVideoSample,
} from './film-samples.ts';
import {
  gifSample,
  jpegSample,
  pngSample,
  webpAnimatedSample,
  webpExtendedSample,
  webpLosslessSample,
  webpSample,
} from './image-samples.ts';
import { pdfSample } from './pdf-samples.ts';
import { flacSample, mp3Sample, oggSample, wavSample } from './sound-samples.ts';

export interface MediaSample {
  /** In a few words. */
  readonly title: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

type Make = () => Uint8Array;

const MAKERS: readonly (readonly [title: string, mimeType: string, make: Make])[] = [
  ['PNG', 'image/png', pngSample],
  ['JPEG', 'image/jpeg', jpegSample],
  ['GIF', 'image/gif', gifSample],
  ['animated GIF', 'image/gif', () => gifSample({ frames: 2 })],
  ['WebP, lossy', 'image/webp', () => webpSample()],
  ['WebP, lossless', 'image/webp', webpLosslessSample],
  ['WebP, extended', 'image/webp', webpExtendedSample],
  ['WebP, animated', 'image/webp', webpAnimatedSample],
  ['PDF with a table', 'application/pdf', () => pdfSample({ pages: 2 })],
  ['PDF with streams', 'application/pdf', () => pdfSample({ pages: 2, xref: 'stream' })],
  ['PDF with an update', 'application/pdf', () => pdfSample({ pages: 2, xref: 'updated' })],
  ['MP3 without tags', 'audio/mpeg', mp3Sample],
  ['MP3 with tags', 'audio/mpeg', () => mp3Sample({ tags: ['id3v2', 'id3v1', 'ape'] })],
  ['WAV', 'audio/wav', wavSample],
  ['Ogg', 'audio/ogg', oggSample],
  ['FLAC', 'audio/flac', flacSample],
  ['MP4', 'video/mp4', isoSample],
  ['QuickTime', 'video/quicktime', () => isoSample({ brands: ['qt  '] })],
  ['3GPP', 'video/3gpp', () => isoSample({ brands: ['3gp5', 'isom'] })],
  ['WebM', 'video/webm', matroskaSample],
  ['WebM, live', 'video/webm', () => matroskaSample({ hasOpenSizes: true })],
  ['Matroska', 'video/x-matroska', () => matroskaSample({ docType: 'matroska' })],
  ['AVI', 'video/x-msvideo', aviSample],
  ['FLV', 'video/x-flv', flvSample],
  ['MPEG program stream', 'video/mpeg', mpegSample],
  ['MPEG video stream', 'video/mpeg', mpegVideoSample],
  ['WMV', 'video/wmv', asfSample],
];

/** Tiny valid files of every kind, made anew on each call. */
export const mediaSamples = (): readonly MediaSample[] =>
  MAKERS.map(([title, mimeType, make]) => ({ title, mimeType, bytes: make() }));

const brandOnly = (...brands: readonly string[]): Uint8Array =>
  join(
    Uint8Array.from([0, 0, 0, 12 + 4 * brands.length]),
    'ftyp',
    brands[0] ?? '',
    zeros(4),
    ...brands.slice(1),
    zeros(16),
  );

/** Media that is none of the kinds; `mimeType` is what it is called. */
export const foreignSamples = (): readonly MediaSample[] =>
  (
    [
      ['BMP', 'image/bmp', join('BM', zeros(60))],
      ['TIFF, little-endian', 'image/tiff', join('II*\0', zeros(4))],
      ['TIFF, big-endian', 'image/tiff', join('MM\0*', zeros(4))],
      ['icon', 'image/x-icon', join(hex('00000100 0100'), zeros(16))],
      ['AVIF', 'image/avif', brandOnly('avif', 'mif1')],
      ['HEIC', 'image/heic', brandOnly('heic', 'mif1')],
      ['HEIC sequence', 'image/heic', brandOnly('hevc', 'msf1')],
      ['HEIC under a general brand', 'image/heic', brandOnly('msf1', 'hevc')],
      ['MPEG transport stream', 'video/mp2t', join(repeat(join('G', noise(187)), 5))],
      ['MP4 with sound only', 'audio/mp4', isoSample({ brands: ['M4A ', 'isom'] })],
      ['WMA', 'audio/x-ms-wma', asfSample({ isFilm: false })],
      ['Ogg with a film', 'video/ogg', oggSample({ first: '\u0080theora' })],
      ['AAC behind a tag', 'audio/aac', join('ID3', hex('04 00 00'), zeros(4), hex('fff1 50 80'), noise(64))],
    ] as const
  ).map(([title, mimeType, bytes]) => ({ title, mimeType, bytes }));
