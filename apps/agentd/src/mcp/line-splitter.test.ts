import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

function linesOf(chunks: readonly Buffer[], maxBytes = 1000): (string | null)[] {
  const splitter = new LineSplitter(maxBytes);
  const lines = chunks.flatMap((chunk) => [...splitter.push(chunk)]);
  const rest = splitter.end();
  return rest === null ? lines : [...lines, rest];
}

describe('LineSplitter', () => {
  it('gives the same lines, however the bytes are cut', () => {
    const text = 'one\n\nzwölf 🙂\r\nlast';
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
        const ends = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
        expect(linesOf(chunks)).toEqual(text.split('\n'));
      }),
    );
  });

  it('gives null for a line that is too long, and the next ones whole', () => {
    const chunks = ['aaa', 'aaa', 'a\nbbbbb\ncccccc\n', 'ddddd'].map((text) => Buffer.from(text));
    expect(linesOf(chunks, 5)).toEqual([null, 'bbbbb', null, 'ddddd']);
  });
});
