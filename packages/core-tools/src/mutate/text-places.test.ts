import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { withReplaced } from '../testing/with-replaced.ts';
import { linesOf, placesOf } from './text-places.ts';

/** Few letters, so that needles are found, overlap and meet every kind of line end. */
const text = fc
  .array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r', '\u{1f600}'), { maxLength: 30 })
  .map((parts) => parts.join(''));
const needle = fc
  .array(fc.constantFrom('a', 'b', '\n', '\r\n'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''));
const plain = (part: string): string => part.replaceAll('\r\n', '\n');

describe('placesOf', () => {
  it('finds places that are the text but for line ends, and only as many as there are [FS-8]', () => {
    fc.assert(
      fc.property(text, needle, (haystack, wanted) => {
        const places = placesOf(haystack, wanted, 'all');
        for (const { start, end } of places) expect(plain(haystack.slice(start, end))).toBe(plain(wanted));
        if (places.length === 0) expect(plain(haystack)).not.toContain(plain(wanted));
        if (haystack.includes(wanted)) expect(places.length).toBeGreaterThan(0);
      }),
    );
  });

  it('finds separate places in order, never overlapping [FS-8]', () => {
    fc.assert(
      fc.property(text, needle, (haystack, wanted) => {
        const places = placesOf(haystack, wanted, 'separate');
        places.reduce((from, { start, end }) => {
          expect(start).toBeGreaterThanOrEqual(from);
          return end;
        }, 0);
        const kept = withReplaced(haystack, places, '');
        expect(kept.length).toBe(
          haystack.length - places.reduce((sum, { start, end }) => sum + end - start, 0),
        );
      }),
    );
  });

  it('never leaves half of a line end behind in a file of CRLF alone [FS-8]', () => {
    fc.assert(
      fc.property(text, needle, (haystack, wanted) => {
        const crlf = haystack.replaceAll(/\r?\n|\r/g, '\r\n');
        fc.pre(crlf.includes('\r\n'));
        const left = withReplaced(crlf, placesOf(crlf, wanted, 'separate'), '');
        expect(left.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      }),
    );
  });
});

describe('linesOf', () => {
  it('numbers lines from one [FS-7]', () => {
    fc.assert(
      fc.property(text, (haystack) => {
        const positions = Array.from({ length: haystack.length + 1 }, (_, i) => i);
        const expected = positions.map((position) => haystack.slice(0, position).split('\n').length);
        expect(linesOf(haystack, positions)).toEqual(expected);
      }),
    );
  });
});
