import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { processorMs } from '@agentd/contract/testing';
import { inspect, type Inspection } from './inspect.ts';
import { MEDIA_FORMATS, formatOf } from './media-formats.ts';
import { base64, be, hex, join, le, noise, repeat, zeros } from './testing/byte-parts.ts';
import {
  asfSample,
  aviSample,
  flacSample,
  flvSample,
  gifSample,
  isoSample,
  jpegSample,
  largeMediaSamples,
  matroskaSample,
  mediaSamples,
  mp3Sample,
  mpegSample,
  mpegVideoSample,
  oggSample,
  pngSample,
  wavSample,
  webpAnimatedSample,
  webpClaim,
  webpSample,
} from './testing/index.ts';
import { pngChunk } from './testing/image-samples.ts';
import { oggPage } from './testing/sound-samples.ts';

const asType = (bytes: Uint8Array, mimeType: string): Inspection => {
  const format = formatOf(mimeType);
  if (format === undefined) throw new Error(`no format of ${mimeType}`);
  return inspect(bytes, format);
};

/** How many cuts leave a complete file: where a format has no mark at its very end, or holds an older version. */
const CLEAN_CUTS: Readonly<Record<string, number>> = {
  'PDF with an update': 2,
  'MP3 without tags': 2,
  'MP3 with tags': 4,
  'WebM, live': 5,
  FLV: 1,
  'MPEG program stream': 3,
  'MPEG video stream': 5,
};

type Row = readonly [title: string, mimeType: string, bytes: Uint8Array, problem: RegExp];

const rowsOf = (rows: readonly Row[]) =>
  rows.map(([title, mimeType, bytes, problem]) => ({ title, mimeType, bytes, problem }));

const samples = mediaSamples();

/** What must hold for any bytes at all; checked by hand, because it is asked some ten thousand times. */
function expectVerdict(bytes: Uint8Array, mimeType: string): Inspection {
  let verdict: Inspection | undefined;
  const spentMs = processorMs(() => (verdict = asType(bytes, mimeType)));
  if (verdict === undefined) throw new Error('no verdict');
  // Far above what it takes on a slow machine, and far below what a hostile file is made for.
  if (spentMs > 1000) throw new Error(`${mimeType} took ${spentMs} ms`);
  if (!verdict.ok && !/^[^\n]{5,300}$/.test(verdict.problem))
    throw new Error(`unreadable: ${verdict.problem}`);
  return verdict;
}

describe('complete files', () => {
  it.each(samples)('accepts $title [MED-1] [field A25]', ({ bytes, mimeType }) => {
    expect(asType(bytes, mimeType)).toMatchObject({ ok: true });
  });

  it('has a sample of every format [MED-1]', () => {
    const types = new Set(samples.map(({ mimeType }) => mimeType));
    expect([...types].toSorted()).toEqual(MEDIA_FORMATS.map(({ mimeType }) => mimeType).toSorted());
  });

  it.each(largeMediaSamples(300_000))(
    'accepts $title of hundreds of kilobytes [MED-1]',
    ({ bytes, mimeType }) => {
      expect(bytes.length).toBeGreaterThan(250_000);
      expect(asType(bytes, mimeType)).toMatchObject({ ok: true });
    },
  );

  it('reads the size of an image from its header [MED-1]', () => {
    expect(asType(pngSample({ width: 30, height: 20 }), 'image/png')).toEqual({
      ok: true,
      facts: { width: 30, height: 20 },
    });
    expect(asType(jpegSample(), 'image/jpeg')).toEqual({ ok: true, facts: { width: 8, height: 8 } });
    expect(asType(gifSample({ width: 7, height: 5 }), 'image/gif')).toEqual({
      ok: true,
      facts: { width: 7, height: 5 },
    });
    expect(asType(webpSample(), 'image/webp')).toEqual({ ok: true, facts: { width: 1, height: 1 } });
  });

  it('leaves alone what phones and old tools append to an image [MED-1]', () => {
    expect(asType(join(jpegSample(), 'SEFT', noise(900)), 'image/jpeg')).toMatchObject({ ok: true });
    expect(asType(join(gifSample(), zeros(3)), 'image/gif')).toMatchObject({ ok: true });
  });

  it('accepts files that real writers made [MED-1]', () => {
    // The smallest files of well-known coders: libwebp with alpha and with animation, and a GIF of 1999.
    const alpha =
      'UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==';
    const animated =
      'UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA';
    expect(asType(base64(alpha), 'image/webp')).toMatchObject({ ok: true });
    expect(asType(base64(animated), 'image/webp')).toMatchObject({ ok: true });
    expect(
      asType(base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'), 'image/gif'),
    ).toMatchObject({ ok: true });
  });
});

describe('files that are cut off', () => {
  it.each(samples)('refuses $title after every cut but a clean one [MED-1]', ({ title, bytes, mimeType }) => {
    let complete = 0;
    for (let length = 0; length < bytes.length; length += 1) {
      if (expectVerdict(bytes.subarray(0, length), mimeType).ok) complete += 1;
    }
    expect(complete).toBe(CLEAN_CUTS[title] ?? 0);
  });

  it.each(
    rowsOf([
      [
        'PNG',
        'image/png',
        pngSample().subarray(0, 20),
        /the IHDR chunk is cut off: at byte 20 it needs 4 more, and 0 are left/,
      ],
      ['JPEG', 'image/jpeg', jpegSample().subarray(0, 150), /cut off/],
      ['GIF', 'image/gif', gifSample().subarray(0, 40), /frame 1 is cut off/],
      ['WebP', 'image/webp', webpSample().subarray(0, 30), /RIFF chunk of 34 bytes is cut off/],
      [
        'MP3',
        'audio/mpeg',
        mp3Sample().subarray(0, 1000),
        /frame 3 is cut off: it needs 417 bytes at byte 834, and 166 are left/,
      ],
      ['Ogg', 'audio/ogg', oggSample().subarray(0, 80), /cut off/],
      [
        'FLAC',
        'audio/flac',
        flacSample().subarray(0, 50),
        /the frame at byte 42 is cut off or has a wrong checksum/,
      ],
      ['MP4', 'video/mp4', isoSample().subarray(0, 60), /the box "moov" at byte 40 is cut off/],
      ['WMV', 'video/wmv', asfSample().subarray(0, 250), /is cut off/],
    ]),
  )('says where $title ends and what is missing [MED-1]', ({ mimeType, bytes, problem }) => {
    expect(asType(bytes, mimeType)).toMatchObject({
      ok: false,
      code: 'MEDIA_MALFORMED',
      problem: expect.stringMatching(problem),
    });
  });
});

describe('files that are damaged', () => {
  it.each(samples)('gives a verdict on $title whatever byte is changed [MED-1]', ({ bytes, mimeType }) => {
    for (let at = 0; at < bytes.length; at += 1) {
      for (const change of [0x00, 0xff, (bytes[at] ?? 0) ^ 0x01, (bytes[at] ?? 0) ^ 0x80]) {
        const damaged = bytes.slice();
        damaged[at] = change;
        expectVerdict(damaged, mimeType);
      }
    }
  });

  it.each(samples)(
    'gives a verdict on $title with parts moved, doubled and overwritten [MED-1]',
    ({ bytes, mimeType }) => {
      const place = fc.nat({ max: bytes.length });
      const edit = fc.record({
        from: place,
        to: place,
        at: place,
        fill: fc.option(fc.uint8Array({ maxLength: 12 })),
      });
      fc.assert(
        fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
          const damaged = edits.reduce((current, { from, to, at, fill }) => {
            const part = fill ?? bytes.subarray(Math.min(from, to), Math.max(from, to));
            return join(
              current.subarray(0, at),
              part,
              current.subarray(fill === null ? at : at + part.length),
            );
          }, bytes);
          expectVerdict(damaged, mimeType);
        }),
        { numRuns: 100 },
      );
    },
  );

  it('gives a verdict on any bytes as any format [MED-1]', () => {
    const format = fc.constantFrom(...MEDIA_FORMATS);
    fc.assert(
      fc.property(format, fc.uint8Array({ maxLength: 200 }), ({ mimeType }, bytes) => {
        expectVerdict(bytes, mimeType);
      }),
    );
  });

  const pngWith = (...chunks: readonly Uint8Array[]): Uint8Array =>
    join(pngSample().subarray(0, 33), ...chunks);
  const idat = pngChunk('IDAT', hex('789c 0300 0000 0001'));
  const end = pngChunk('IEND', '');

  it.each(
    rowsOf([
      [
        'PNG with a wrong checksum',
        'image/png',
        pngSample().with(45, 7),
        /IDAT chunk at byte 37 has a wrong checksum/,
      ],
      ['PNG with something behind its end', 'image/png', join(pngSample(), 'x'), /1 bytes follow its end/],
      ['PNG without data', 'image/png', pngWith(end), /no image data/],
      [
        'PNG with scattered data',
        'image/png',
        pngWith(idat, pngChunk('tEXt', 'a\0b'), idat, end),
        /not together/,
      ],
      [
        'PNG with an unknown critical chunk',
        'image/png',
        pngWith(pngChunk('ABCD', ''), idat, end),
        /critical chunk ABCD/,
      ],
      [
        'PNG whose data is not packed',
        'image/png',
        pngWith(pngChunk('IDAT', 'rawbytes'), end),
        /no zlib stream/,
      ],
      ['JPEG without an image', 'image/jpeg', hex('ffd8 ffd9'), /no frame header/],
      ['GIF without a frame', 'image/gif', gifSample({ frames: 0 }), /no frame/],
      [
        'WebP with an image too small for its canvas',
        'image/webp',
        webpClaim(9, 9),
        /does not fill the canvas/,
      ],
      ['WebP with something behind it', 'image/webp', join(webpAnimatedSample(), zeros(5)), /5 bytes follow/],
      ['WAV without sound', 'audio/wav', wavSample({ samples: 0 }), /no sound data/],
      ['WAV from a pipe', 'audio/wav', join('RIFF', hex('ffffffff'), wavSample().subarray(8)), /length open/],
      [
        'MP3 that is a tag and no more',
        'audio/mpeg',
        mp3Sample({ frames: 0, tags: ['id3v2'] }),
        /nothing but tags/,
      ],
      [
        'MP3 with a hole',
        'audio/mpeg',
        join(mp3Sample(), 'hole', mp3Sample()),
        /no MPEG layer III frame stands at byte 1251/,
      ],
      [
        'Ogg with a wrong checksum',
        'audio/ogg',
        oggSample().with(40, 9),
        /the page at byte 0 has a wrong checksum/,
      ],
      [
        'Ogg with a page missing',
        'audio/ogg',
        join(oggSample().subarray(0, 47), oggPage(hex('aa'), 2, 4)),
        /page 1 of a stream is missing/,
      ],
      [
        'Ogg without an end',
        'audio/ogg',
        join(oggSample().subarray(0, 47), oggPage(hex('aa'), 1, 0)),
        /cut off/,
      ],
      [
        'Ogg with an unknown stream',
        'audio/ogg',
        oggSample({ first: 'whatever' }),
        /not Vorbis, Opus, Speex or FLAC/,
      ],
      [
        'FLAC with a wrong count',
        'audio/flac',
        join(flacSample().subarray(0, 42), flacSample({ frames: 3 }).subarray(42)),
        /says 384 samples and its frames hold 576/,
      ],
      ['MP4 with sound only', 'video/mp4', isoSample({ handlerType: 'soun' }), /no video track/],
      ['MP4 without data', 'video/mp4', isoSample().subarray(0, 24), /no movie header/],
      ['WebM with sound only', 'video/webm', matroskaSample({ trackType: 2 }), /no video track/],
      ['AVI without film data', 'video/x-msvideo', join('RIFF', le(4, 4), 'AVI '), /no header list/],
      ['AVI with a cut list', 'video/x-msvideo', aviSample().with(16, 0xff).with(17, 0xff), /cut off/],
      ['FLV whose lengths disagree', 'video/x-flv', flvSample().with(50, 9), /has 15 bytes and says 9/],
      ['MPEG without a film', 'video/mpeg', mpegSample().subarray(0, 14), /no video packet/],
      ['MPEG video without a picture', 'video/mpeg', mpegVideoSample().subarray(0, 12), /no picture/],
      ['WMV with packets missing', 'video/wmv', asfSample().with(-82 + 24 + 16, 2), /says 2 packets/],
    ]),
  )('refuses $title [MED-1]', ({ mimeType, bytes, problem }) => {
    expect(asType(bytes, mimeType)).toMatchObject({ ok: false, problem: expect.stringMatching(problem) });
  });

  it.each([
    ['PNG', 'image/png', join(pngSample().subarray(0, 33), repeat(pngChunk('tEXt', ''), 400_000))],
    ['JPEG', 'image/jpeg', join(hex('ffd8'), repeat(hex('ffe00002'), 400_000))],
    ['MP4', 'video/mp4', join(isoSample(), repeat(hex('00000008 66726565'), 400_000))],
    ['WebM', 'video/webm', join(matroskaSample({ hasOpenSizes: true }), repeat(hex('a380'), 400_000))],
    ['WMV', 'video/wmv', join(asfSample(), repeat(join(zeros(16), le(24, 8)), 400_000))],
  ] as const)('gives up on a %s of nothing but empty parts [MED-1]', (_title, mimeType, bytes) => {
    expect(asType(bytes, mimeType)).toEqual({
      ok: false,
      code: 'MEDIA_OVERSIZED',
      problem: 'it consists of more than 300000 parts',
    });
  });

  it('is not led in circles or depths by boxes, lists and elements [MED-1]', () => {
    const boxes = (depth: number): Uint8Array => {
      let inner = zeros(0);
      for (let level = 0; level < depth; level += 1) inner = join(be(inner.length + 8, 4), 'moov', inner);
      return inner;
    };
    expect(asType(boxes(3000), 'video/mp4')).toMatchObject({ problem: expect.stringMatching(/nest/) });
    const lists = (depth: number): Uint8Array => {
      let inner = zeros(0);
      for (let level = 0; level < depth; level += 1)
        inner = join('LIST', le(inner.length + 4, 4), 'movi', inner);
      return join('RIFF', le(inner.length + 4, 4), 'AVI ', inner);
    };
    expect(asType(lists(3000), 'video/x-msvideo')).toMatchObject({ problem: expect.stringMatching(/nest/) });
  });
});
