import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TextPieces, afterLineFeeds, countLineFeeds, cutAfter, cutBefore, tornBytes } from './utf8.ts';

describe('countLineFeeds', () => {
  it('counts every LF and nothing else, wherever the bytes lie in memory [OUT-2]', () => {
    const bytes = fc
      .uint8Array({ maxLength: 40 })
      .map((random) => random.map((byte) => (byte % 3 === 0 ? 10 : byte)));
    fc.assert(
      fc.property(bytes, fc.nat(5), (all, from) => {
        const part = all.subarray(from);
        expect(countLineFeeds(part)).toBe(part.filter((byte) => byte === 10).length);
      }),
      { numRuns: 1000 },
    );
  });

  it('tells LF from its neighbours in every place of a word [OUT-2]', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      expect(countLineFeeds(new Uint8Array(9).fill(byte))).toBe(byte === 10 ? 9 : 0);
      expect(countLineFeeds(Uint8Array.from([byte, 10, byte, 10, 10, byte, 10, byte]))).toBe(
        byte === 10 ? 8 : 4,
      );
    }
  });
});

describe('cuts of UTF-8', () => {
  it('never split a code point, and stay as near as they can [OUT-14]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(80), (text, at) => {
        const bytes = Buffer.from(text.toWellFormed());
        const [before, after] = [cutBefore(bytes, at), cutAfter(bytes, at)];
        expect(before).toBeLessThanOrEqual(at);
        expect(after).toBeGreaterThanOrEqual(Math.min(at, bytes.length));
        for (const cut of [before, Math.min(after, bytes.length)]) {
          expect(Buffer.concat([bytes.subarray(0, cut), bytes.subarray(cut)]).toString()).toBe(
            bytes.subarray(0, cut).toString() + bytes.subarray(cut).toString(),
          );
        }
      }),
    );
  });

  it('find the torn character at the end of what a dead process wrote [OUT-14]', () => {
    for (const character of ['a', 'é', '€', '𝄞']) {
      const bytes = Buffer.from(`x${character}`);
      for (let length = 1; length <= bytes.length; length += 1) {
        const torn = tornBytes(bytes.subarray(0, length));
        expect(torn).toBe(length === bytes.length ? 0 : length - 1);
      }
    }
    expect(tornBytes(Buffer.alloc(0))).toBe(0);
  });
});

it('afterLineFeeds finds the end of the n-th line', () => {
  const bytes = Buffer.from('a\nbc\n\nd');
  expect([0, 1, 2, 3, 4].map((count) => afterLineFeeds(bytes, 0, count))).toEqual([0, 2, 5, 6, -1]);
});

it('TextPieces joins what chunks split, replaces lone surrogates, and cuts giant texts between characters [OUT-14]', () => {
  const piecesOf = (...chunks: readonly string[]): readonly string[] => {
    const pieces = new TextPieces();
    return [...chunks.flatMap((chunk) => [...pieces.push(chunk)]), pieces.flush()].filter(
      (piece) => piece !== '',
    );
  };
  expect(piecesOf('a\ud834', '\udd1e\ud834', '', 'b\udd1e\ud834')).toEqual([
    'a',
    '𝄞',
    '\ufffdb\ufffd',
    '\ufffd',
  ]);
  const giant = `x${'𝄞'.repeat(100_000)}`;
  const pieces = piecesOf(giant);
  expect(pieces.length).toBeGreaterThan(3);
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  expect(pieces.join('')).toBe(giant);
});
