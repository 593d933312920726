import { describe, expect, it } from '@jest/globals';
import { deflateSync } from 'node:zlib';
import { unpack } from './pdf-stream.ts';
import type { PdfValue } from './pdf-value.ts';
import { join } from '../../testing/byte-parts.ts';

const stream = (data: Uint8Array, entries: Readonly<Record<string, PdfValue>>) => ({
  dictionary: new Map(Object.entries(entries)),
  data,
});
const predictor = (more: Readonly<Record<string, PdfValue>> = {}): PdfValue =>
  new Map(Object.entries({ '/Predictor': 15, '/Columns': 3, ...more }));

const PLAIN = Uint8Array.from([10, 20, 30, 11, 22, 33, 9, 8, 7, 200, 100, 0, 255, 1, 2]);

/** The five rows of PLAIN, each behind another filter, worked out by hand. */
const FILTERED = [
  [0, 10, 20, 30],
  [1, 11, 11, 11],
  [2, 254, 242, 230],
  // The mean of left and above: 0 and 9, 200 and 8, 100 and 7.
  [3, 196, 252, 203],
  // The nearest to left + above - corner: above (200), corner (200), above (0).
  [4, 55, 57, 2],
];

describe('unpack', () => {
  it('undoes each row filter [MED-1]', () => {
    const rows = Uint8Array.from(FILTERED.flat().map((value) => value & 255));
    const packed = stream(deflateSync(rows), { '/Filter': ['/FlateDecode'], '/DecodeParms': [predictor()] });
    expect(unpack(packed, 1000)).toEqual(PLAIN);
  });

  it('gives back what is not packed, and what is packed without a predictor [MED-1]', () => {
    expect(unpack(stream(PLAIN, {}), 9)).toEqual(PLAIN);
    const flate = { '/Filter': '/FlateDecode', '/DecodeParms': new Map([['/Predictor', 1]]) };
    expect(join(unpack(stream(deflateSync(PLAIN), flate), 100))).toEqual(PLAIN);
  });

  it.each([
    ['another filter', stream(PLAIN, { '/Filter': '/LZWDecode' }), /packed with \/LZWDecode/],
    ['two filters', stream(PLAIN, { '/Filter': ['/ASCIIHexDecode', '/FlateDecode'] }), /several times/],
    ['no packed data', stream(PLAIN, { '/Filter': '/FlateDecode' }), /damaged/],
    ['data cut off', stream(deflateSync(PLAIN).subarray(0, 9), { '/Filter': '/FlateDecode' }), /damaged/],
    [
      'wide pixels',
      stream(deflateSync(PLAIN), { '/Filter': '/Fl', '/DecodeParms': predictor({ '/Colors': 3 }) }),
      /predictor/,
    ],
    [
      'no columns',
      stream(deflateSync(PLAIN), { '/Filter': '/Fl', '/DecodeParms': predictor({ '/Columns': 0 }) }),
      /predictor/,
    ],
    [
      'the TIFF predictor',
      stream(deflateSync(PLAIN), { '/Filter': '/Fl', '/DecodeParms': predictor({ '/Predictor': 2 }) }),
      /predictor/,
    ],
  ])('refuses %s [MED-1]', (_what, packed, problem) => {
    expect(() => unpack(packed, 1000)).toThrow(problem);
  });

  it('stops at the size it was given [MED-1]', () => {
    expect(() =>
      unpack(stream(deflateSync(new Uint8Array(5000)), { '/Filter': '/FlateDecode' }), 4999),
    ).toThrow(/unpacks to more/);
  });
});
