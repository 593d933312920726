import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Preview, type PreviewLimits, type PreviewText } from './preview.ts';

function previewOf(text: string | Uint8Array, limits: PreviewLimits, chunkSize = Infinity): PreviewText {
  const preview = new Preview(limits.maxBytes);
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += chunkSize) preview.append(bytes.subarray(at, at + chunkSize));
  return preview.cut(limits);
}

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');
const limits = (maxLines: number, maxBytes: number): PreviewLimits => ({ maxLines, maxBytes });

describe('Preview at its limits', () => {
  it.each([
    ['at the line limit', 'a\nb\nc\n', limits(3, 100)],
    ['at the line limit without a last LF', 'a\nb\nc', limits(3, 100)],
    ['at the byte limit', 'abcdef', limits(10, 6)],
    ['at the byte limit with characters of three bytes', '€€', limits(10, 6)],
    ['empty', '', limits(1, 1)],
  ])('shows a text whole that is %s [OUT-4] [field E12]', (_, text, at) => {
    expect(previewOf(text, at)).toMatchObject({ text, truncated: false, nextOffset: null });
  });

  it('shows 200 lines of 200 characters whole under the default limits [OUT-4] [field E12]', () => {
    const text = `${'x'.repeat(204)}\n`.repeat(200);
    expect(previewOf(text, limits(2000, 51_200)).text).toBe(text);
  });

  it.each([
    ['a line above', 'a\nb\nc\nd', limits(3, 100), 'a\nb\n[… 1 lines omitted]\nd', 2],
    ['a byte above', 'abcdefg', limits(10, 6), 'abc\n[… 1 lines omitted]\nefg', 0],
    ['a byte above, as an LF', 'abcdef\n', limits(10, 6), 'abc\n[… 1 lines omitted]\nef\n', 0],
    ['over a limit of one line', 'a\nb\n', limits(1, 100), 'a\n[… 1 lines omitted]', 1],
    ['over a limit of one byte', 'ab', limits(9, 1), 'a\n[… 1 lines omitted]', 0],
    ['over a byte limit smaller than its first character', '€', limits(9, 1), '[… 1 lines omitted]', 0],
    [
      'cut before and after a character of three bytes',
      'a€€€z',
      limits(9, 6),
      'a\n[… 1 lines omitted]\nz',
      0,
    ],
  ])('cuts a text that is %s [OUT-4] [OUT-6] [OUT-14] [field E12]', (...[, text, at, shown, nextOffset]) => {
    expect(previewOf(text, at)).toMatchObject({ text: shown, truncated: true, nextOffset });
  });

  it('points back to the start of a line that the head shows in part [OUT-5]', () => {
    const { text, nextOffset } = previewOf('one\ntwo three four five six seven\n', limits(100, 16));
    expect(text).toBe('one\ntwo \n[… 1 lines omitted]\nx seven\n');
    expect(nextOffset).toBe(1);
  });

  it('counts partly shown lines as omitted, whole ones not [OUT-6]', () => {
    expect(previewOf(numbered(100), limits(4, 1000)).text).toBe(
      'line 0\nline 1\n[… 96 lines omitted]\nline 98\nline 99\n',
    );
    expect(previewOf(numbered(100), limits(1000, 40)).text).toBe(
      'line 0\nline 1\nline 2\n[… 96 lines omitted]\n 97\nline 98\nline 99\n',
    );
  });

  it('gives the odd line and the odd byte to the head [OUT-6]', () => {
    expect(previewOf(numbered(9), limits(3, 1000)).text).toBe(
      'line 0\nline 1\n[… 6 lines omitted]\nline 8\n',
    );
    expect(previewOf('abcdefgh', limits(9, 5)).text).toBe('abc\n[… 1 lines omitted]\ngh');
  });

  it('keeps the error at the end of long output [field E4]', () => {
    const text = `${Array.from({ length: 50_000 }, (_, at) => `${at + 1}\n`).join('')}FATAL: disk quota\n`;
    const preview = previewOf(text, limits(2000, 51_200), 4096).text;
    expect(preview.startsWith('1\n2\n3\n')).toBe(true);
    expect(preview.endsWith('50000\nFATAL: disk quota\n')).toBe(true);
    expect(preview).toContain('\n[… 48001 lines omitted]\n');
  });
});

/** Texts that are dense in line ends and in characters of one to four bytes. */
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\n', 'é', '€', '𝄞', ' '), maxLength: 120 });
const someLimits = fc.record({
  maxLines: fc.integer({ min: 1, max: 12 }),
  maxBytes: fc.integer({ min: 1, max: 60 }),
});

describe('Preview of any text', () => {
  it('does not depend on how the text was chunked [OUT-14]', () => {
    fc.assert(
      fc.property(texts, someLimits, fc.integer({ min: 1, max: 9 }), (text, at, chunkSize) => {
        expect(previewOf(text, at, chunkSize)).toEqual(previewOf(text, at));
      }),
      { numRuns: 500 },
    );
  });

  it('cuts as the rule reads: halves of each limit, whole code points, a true count [OUT-4] [OUT-6] [OUT-14]', () => {
    fc.assert(
      fc.property(texts, someLimits, fc.integer({ min: 1, max: 9 }), (text, at, chunkSize) => {
        expect(previewOf(text, at, chunkSize)).toEqual(previewByTheRule(text, at));
      }),
      { numRuns: 1000 },
    );
  });

  it('loses nothing: whole head lines and the text from the offset on are the text [OUT-5]', () => {
    fc.assert(
      fc.property(texts, someLimits, (text, at) => {
        const { text: shown, truncated, nextOffset } = previewOf(text, at);
        if (!truncated) return expect(shown).toBe(text);
        const head = linesOf(text).slice(0, nextOffset!).join('');
        expect(shown.startsWith(head)).toBe(true);
        expect(head + linesOf(text).slice(nextOffset!).join('')).toBe(text);
      }),
    );
  });

  it('forgets a line that is restarted, whatever its length [BASH-8]', () => {
    const pieces = fc.array(fc.record({ restart: fc.boolean(), text: texts }), { maxLength: 8 });
    fc.assert(
      fc.property(pieces, someLimits, (steps, at) => {
        const preview = new Preview(at.maxBytes);
        let left = '';
        for (const { restart, text } of steps) {
          if (restart) {
            preview.restartLine();
            left = left.slice(0, left.lastIndexOf('\n') + 1);
          }
          preview.append(Buffer.from(text));
          left += text;
        }
        expect(preview.cut(at)).toEqual(previewByTheRule(left, at));
      }),
      { numRuns: 500 },
    );
  });
});

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

const size = (part: string): number => Buffer.byteLength(part);

/** The longest run of characters from the start that takes at most `bytes`. */
function prefix(characters: readonly string[], bytes: number): readonly string[] {
  const fits = characters.findIndex((_, at) => size(characters.slice(0, at + 1).join('')) > bytes);
  return fits === -1 ? characters : characters.slice(0, fits);
}

/** The rule written down again, slowly, on the whole text at once. */
function previewByTheRule(text: string, { maxLines, maxBytes }: PreviewLimits): PreviewText {
  const lines = linesOf(text);
  if (lines.length <= maxLines && size(text) <= maxBytes) {
    return { text, shownBytes: size(text), truncated: false, nextOffset: null };
  }
  const tailLines = Math.floor(maxLines / 2);
  const head = prefix([...lines.slice(0, Math.ceil(maxLines / 2)).join('')], Math.ceil(maxBytes / 2)).join(
    '',
  );
  const end = [...lines.slice(Math.max(0, lines.length - tailLines)).join('')].toReversed();
  const tail = prefix(end, Math.floor(maxBytes / 2))
    .toReversed()
    .join('');
  const wholeHead = linesOf(head).filter((line) => line.endsWith('\n')).length;
  let wholeTail = 0;
  while (wholeTail < lines.length && tail.endsWith(lines.slice(-wholeTail - 1).join(''))) wholeTail += 1;
  const marker = `[… ${lines.length - wholeHead - wholeTail} lines omitted]`;
  const lineEnd = /[^\n]$/.test(head) ? '\n' : '';
  const shown = `${head}${lineEnd}${marker}${tail === '' ? '' : '\n'}${tail}`;
  return { text: shown, shownBytes: size(head) + size(tail), truncated: true, nextOffset: wholeHead };
}
