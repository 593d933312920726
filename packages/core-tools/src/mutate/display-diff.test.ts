import { describe, expect, it } from '@jest/globals';
import { applyPatch } from 'diff';
import { displayDiff } from './display-diff.ts';

describe('displayDiff', () => {
  it.each([
    ['a few lines', 'a\nb\nc\n', 'a\nB\nc\n'],
    ['a missing last newline', 'a\nb', 'a\nb\n'],
    ['CRLF', 'a\r\nb\r\n', 'a\r\nc\r\n'],
    ['a new file', '', 'x\ny\n'],
    [
      'a rewrite too large to compare line by line',
      'h\n'.repeat(5) + 'a\n'.repeat(900),
      `${'h\n'.repeat(5)}${'b\n'.repeat(900)}z`,
    ],
  ])('turns the old text into the new one for %s [FS-13]', async (_what, before, after) => {
    const { diff, diff_truncated } = await displayDiff('f', before, after);
    expect(diff_truncated).toBe(false);
    expect(applyPatch(before, diff ?? '', { autoConvertLineEndings: false })).toBe(after);
  });

  it('is bounded, cut at a line, and says so [FS-13]', async () => {
    const { diff, diff_truncated } = await displayDiff('f', '', '\u6d4b\u6d4b\n'.repeat(50_000));
    expect(diff_truncated).toBe(true);
    expect(Buffer.byteLength(diff ?? '')).toBeLessThanOrEqual(48 * 1024);
    expect(diff).toMatch(/\n\+\u6d4b\u6d4b\n$/);
  });
});
