import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lineEndingOf, TextPager } from './text-pager.ts';

const text = fc
  .array(fc.constantFrom('a', 'bc', '\n', '\r\n', '\r', '\u6d4b'), { maxLength: 40 })
  .map((parts) => parts.join(''));

/** The lines of a text as FS-2 counts them. */
function plainLines(whole: string): string[] {
  const lines = whole.split('\n');
  const last = lines.pop();
  const ended = lines.map((line) => line.replace(/\r$/, ''));
  return last === '' || last === undefined ? ended : [...ended, last];
}

describe('TextPager', () => {
  it('P2 P3 gives the same page however the text is cut into chunks [FS-2]', () => {
    fc.assert(
      fc.property(
        text,
        fc.nat(6),
        fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 7 })),
        (whole, offset, [limit, step]) => {
          const pager = new TextPager({ offset, limit, maxBytes: 10_000 });
          const bytes = Buffer.from(whole);
          for (let at = 0; at < bytes.length; at += step) pager.push(bytes.subarray(at, at + step));
          pager.end();
          const lines = plainLines(whole);
          expect(pager.lines).toEqual(
            lines.slice(offset, offset + limit).map((line, i) => `${offset + i + 1}: ${line}`),
          );
          expect(pager.seenLines).toBe(lines.length);
          expect(pager.hasMore).toBe(lines.length > offset + limit);
          const [ends, crlf] = [whole.split('\n').length - 1, whole.split('\r\n').length - 1];
          expect(lineEndingOf(pager.progress)).toBe(
            ends === 0 ? undefined : crlf === 0 ? 'lf' : crlf === ends ? 'crlf' : 'mixed',
          );
        },
      ),
    );
  });

  it('P4 goes on from where another scan has come, in the middle of a line too [FS-14]', () => {
    fc.assert(
      fc.property(text, text, fc.nat(4), (before, after, more) => {
        const first = new TextPager({ offset: 1_000, limit: 1, maxBytes: 10_000 });
        first.push(Buffer.from(before));
        const { progress } = first;
        const window = {
          offset: progress.ended + (progress.isOpen ? 1 : 0) + more,
          limit: 3,
          maxBytes: 10_000,
        };
        const resumed = new TextPager(window, progress);
        const whole = new TextPager(window);
        whole.push(Buffer.from(before));
        for (const pager of [resumed, whole]) {
          pager.push(Buffer.from(after));
          pager.end();
        }
        expect([resumed.lines, resumed.progress, resumed.hasMore]).toEqual([
          whole.lines,
          whole.progress,
          whole.hasMore,
        ]);
      }),
    );
  });

  it('P1 stops keeping at the bound and tells how many lines fit [OUT-20]', () => {
    const pager = new TextPager({ offset: 0, limit: 100, maxBytes: 20 });
    pager.push(Buffer.from('123456\n123456\n'));
    pager.push(Buffer.from('x'.repeat(1000)));
    expect([pager.isTooLarge, pager.lines]).toEqual([true, ['1: 123456', '2: 123456']]);
    const exact = new TextPager({ offset: 0, limit: 100, maxBytes: 20 });
    exact.push(Buffer.from('123456\n123456\n'));
    exact.end();
    expect(exact.isTooLarge).toBe(false);
  });
});
