import { noise } from './byte-parts.ts';
import {
  asfSample,
  aviSample,
  flvSample,
  isoSample,
  matroskaSample,
  mpegSample,
  mpegVideoSample,
} from './film-samples.ts';
import { gifSample, jpegSample, pngSample, webpSample } from './image-samples.ts';
import { pdfSample } from './pdf-samples.ts';
import type { MediaSample } from './samples.ts';
import { flacSample, mp3Sample, oggSample, wavSample } from './sound-samples.ts';

const MP3_FRAME_BYTES = 417;
const PACKET_BYTES = 60_000;

/** Coded data of an image or a film: noise in which no marker and no start code stands. */
function codedNoise(bytes: number): Uint8Array {
  return noise(bytes).map((byte) => (byte === 0xff || byte < 2 ? 0x55 : byte));
}

/** Valid files of about `size` bytes, for measurements. The larger part of each is what its format carries most of. */
export function largeMediaSamples(size: number): readonly MediaSample[] {
  const data = codedNoise(size);
  const packets = Math.ceil(size / PACKET_BYTES);
  const packet = data.subarray(0, PACKET_BYTES);
  const film = { data };
  return (
    [
      ['PNG', 'image/png', pngSample({ filler: data })],
      ['JPEG', 'image/jpeg', jpegSample({ scan: data })],
      ['GIF of many frames', 'image/gif', gifSample({ frames: Math.ceil(size / 23) })],
      ['WebP', 'image/webp', webpSample(data)],
      ['PDF of 5,000 pages', 'application/pdf', pdfSample({ pages: 5000, filler: data })],
      ['MP3', 'audio/mpeg', mp3Sample({ frames: Math.ceil(size / MP3_FRAME_BYTES), tags: ['id3v2'] })],
      ['WAV', 'audio/wav', wavSample({ samples: Math.ceil(size / 2) })],
      ['Ogg', 'audio/ogg', oggSample({ pages: packets, sound: packet })],
      ['FLAC', 'audio/flac', flacSample({ filler: data })],
      ['MP4', 'video/mp4', isoSample(film)],
      ['WebM', 'video/webm', matroskaSample(film)],
      ['AVI', 'video/x-msvideo', aviSample(film)],
      ['FLV', 'video/x-flv', flvSample({ data: packet, tags: packets })],
      ['MPEG program stream', 'video/mpeg', mpegSample({ data: packet, packets })],
      ['MPEG video stream', 'video/mpeg', mpegVideoSample(film)],
      ['WMV', 'video/wmv', asfSample(film)],
    ] as const
  ).map(([title, mimeType, bytes]) => ({ title, mimeType, bytes }));
}
