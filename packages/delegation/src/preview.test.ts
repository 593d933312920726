import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endNotice, startNotice } from './notices.ts';
import { previewOf } from './preview.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe('the preview of what a child said', () => {
  it.each([
    ['', '', 0, false],
    ['one', 'one', 1, false],
    ['one\n', 'one\n', 1, false],
    ['\n\n', '\n\n', 2, false],
    [numbered(20).join('\n'), numbered(20).join('\n'), 20, false],
    [`${numbered(20).join('\n')}\n`, `${numbered(20).join('\n')}\n`, 20, false],
    [numbered(21).join('\n'), `${numbered(20).join('\n')}\n`, 21, true],
    ['x'.repeat(2048), 'x'.repeat(2048), 1, false],
    ['x'.repeat(2049), 'x'.repeat(2048), 1, true],
    // The sign takes bytes 2,047 to 2,049: it does not fit, and is not cut in two.
    [`${'x'.repeat(2046)}€uro`, 'x'.repeat(2046), 1, true],
    [`${'x'.repeat(2045)}😀`, 'x'.repeat(2045), 1, true],
  ])('of %j is at most 20 lines and 2,048 bytes [DLG-5]', (text, ...[preview, lines, truncated]) => {
    expect(previewOf(text)).toEqual({ preview, lines, truncated });
  });

  it('keeps newlines and tabs and folds other controls to spaces [DLG-5]', () => {
    const { preview, truncated } = previewOf('a\tb\nc\u0000d\u001b[31me\rf\u0085g\u007fh');
    expect(preview).toBe('a\tb\nc d [31me f g h');
    expect(truncated).toBe(false);
  });

  it('is a beginning of the text, well formed and within its bounds, whatever the text [DLG-5]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5000 }), fc.nat(40), (text, repeats) => {
        const long = `${text}\n`.repeat(repeats) + text;
        const { preview, lines, truncated } = previewOf(long);
        expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(2048);
        expect(preview.split('\n').length).toBeLessThanOrEqual(21);
        expect(preview.isWellFormed()).toBe(true);
        expect(preview).not.toMatch(/[^\P{Cc}\n\t]/u);
        const plain = long.toWellFormed().replaceAll(/[^\P{Cc}\n\t]/gu, ' ');
        expect(plain.startsWith(preview)).toBe(true);
        expect(truncated).toBe(preview !== plain);
        expect(lines).toBe(plain.split('\n').length - (plain === '' || plain.endsWith('\n') ? 1 : 0));
      }),
      { numRuns: 100 },
    );
  });
});

describe('the notices', () => {
  it('of a start names the handle [DLG-5]', () => {
    expect(startNotice('explore_1a2b3c4d')).toBe('Subagent started. [subagent session explore_1a2b3c4d]');
  });

  it('of an end points at the rest only where the preview is cut [DLG-5]', () => {
    const notice = (text: string) =>
      endNotice('explore_1a2b3c4d', { status: 'completed', ...previewOf(text) });
    expect(notice(numbered(79).join('\n'))).toBe(
      `${numbered(20).join('\n')}\n[subagent session explore_1a2b3c4d; completed; 79 lines; use get_subagent_result with session_id "explore_1a2b3c4d" for the full output]`,
    );
    expect(notice('a\nb\n')).toBe(
      'a\nb\n[subagent session explore_1a2b3c4d; completed; 2 lines; full output shown]',
    );
    expect(notice('')).toBe('[subagent session explore_1a2b3c4d; completed; 0 lines; full output shown]');
  });
});
