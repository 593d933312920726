import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WITH_ATTRIBUTES } from './element-kinds.ts';
import { PageSimplifier } from './page-simplifier.ts';
import { renderHtml } from './render-html.ts';
import { scanTags } from './tag-scanner.ts';

const NAMES =
  'div p span a h2 ul ol li blockquote pre table caption tbody tr td th br hr form section dl dt dd b wbr select option svg';

/** Tags and words in any order: what real pages look like, and worse. */
const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...NAMES.split(' ').flatMap((name) => [
          `<${name}>`,
          `</${name}>`,
          `<${name} href=x colspan=3 rowspan=2>`,
        ]),
      ),
      fc.constantFrom('word', ' ', '\n', '&nbsp;', '<', '</', '<!-- -->'),
    ),
    { maxLength: 80 },
  )
  // A drawing hides its text, and so does a broken tag: both end before the next word.
  .map((pieces) =>
    pieces.map((piece, index) => (piece === 'word' ? `<!-- --></svg><i title="">w${index}w` : piece)),
  );

function simplified(html: string): string {
  const page = new PageSimplifier('http://h.test/', false);
  scanTags(html, WITH_ATTRIBUTES, page);
  return page.finish();
}

describe('PageSimplifier', () => {
  it('loses no word, whatever the tags around it (P2) [WEB-6]', () => {
    fc.assert(
      fc.property(soup, (pieces) => {
        const text = renderHtml({ html: pieces.join(''), url: 'http://h.test/', isXhtml: false });
        const words = pieces.flatMap((piece) => /w\d+w$/.exec(piece)?.[0] ?? []);
        expect(words.filter((word) => !text.includes(word))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('closes what it opens, and never nests deep (P1) [WEB-6]', () => {
    fc.assert(
      fc.property(soup, fc.integer({ min: 1, max: 40 }), (pieces, times) => {
        const open: string[] = [];
        for (const [, slash, name = ''] of simplified(pieces.join('').repeat(times)).matchAll(
          /<(\/?)(\w+)/g,
        )) {
          if (name === 'br' || name === 'hr') continue;
          if (slash === '/') expect(open.pop()).toBe(name);
          else open.push(name);
          expect(open.length).toBeLessThanOrEqual(61);
        }
        expect(open).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
