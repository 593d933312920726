import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitAttachments, leftOutNote } from './attachment-budget.ts';
import { attachmentOf } from './testing/models.ts';

const MIB = 1024 * 1024;
const filesOf = (...sizes: readonly number[]) => sizes.map((size) => ({ byte_length: size * MIB }));

describe('the budget of one tool result', () => {
  it('keeps what fits and leaves the rest, small files behind a large one included (MED-8) [MED-10]', () => {
    const [a, b, c, d] = filesOf(20, 13, 12, 1);
    expect(fitAttachments([a!, b!, c!, d!])).toEqual({ kept: [a, c], left: [b, d] });
  });

  it('keeps sixteen files at most [MED-10]', () => {
    const files = filesOf(...Array.from({ length: 18 }, () => 1));
    expect(fitAttachments(files)).toEqual({ kept: files.slice(0, 16), left: files.slice(16) });
  });

  it('loses no file and passes no limit [MED-10]', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 40 * MIB }), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const files = lengths.map((byte_length, id) => ({ byte_length, id }));
        const { kept, left } = fitAttachments(files);
        expect([...kept, ...left].toSorted((a, b) => a.id - b.id)).toEqual(files);
        expect(kept.reduce((sum, { byte_length }) => sum + byte_length, 0)).toBeLessThanOrEqual(32 * MIB);
        expect(kept.length).toBeLessThanOrEqual(16);
      }),
    );
  });

  it('names a file that was left out, and why (MED-8) [MED-10]', () => {
    expect(leftOutNote(attachmentOf(1, { filename: 'a.png' }))).toBe(
      '["a.png" (image/png, 1000 bytes) left out: a result carries at most 16 files and 32 MiB]',
    );
  });
});
