import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { beginning, excerpt, shortArguments } from './shorten.ts';

describe('shortened arguments', () => {
  it('are JSON that keeps the path and cuts long texts inside, at an emoji or a quote too [field I15]', () => {
    const content = '"😀\\'.repeat(12_500);
    for (const limit of [1000, 1001, 1002, 1003]) {
      const json = shortArguments({ filePath: 'src/a b.ts', content }, limit);
      const parsed = JSON.parse(json) as { filePath: string; content: string };
      expect(parsed.filePath).toBe('src/a b.ts');
      expect(parsed.content.isWellFormed()).toBe(true);
      expect(content.startsWith(parsed.content.slice(0, limit - 1))).toBe(true);
      expect(parsed.content).toMatch(/… \[\d+ characters left out\]$/);
      expect(json.length).toBeLessThan(4000);
    }
  });

  it('parse whatever they were, nested and long ones too [field I15]', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(20), (value, limit) => {
        expect(() => JSON.parse(shortArguments(value, limit)) as unknown).not.toThrow();
      }),
      { numRuns: 200 },
    );
    expect(JSON.parse(shortArguments(undefined, 5))).toBeNull();
    const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`) as unknown;
    expect(shortArguments(deep, 5).length).toBeLessThan(100);
    expect((JSON.parse(shortArguments(Array(400).fill(1), 5)) as unknown[]).at(-1)).toBe(
      '… 350 more left out',
    );
  });
});

describe('excerpts', () => {
  it('keep both ends of a text and no half characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        fc.nat(40),
        fc.nat(100),
        (text, limit, bytes) => {
          const short = excerpt(text.toWellFormed(), limit);
          expect(short.isWellFormed()).toBe(true);
          if (text.length <= limit) expect(short).toBe(text.toWellFormed());
          const start = beginning(text.toWellFormed(), bytes);
          expect(text.toWellFormed().startsWith(start)).toBe(true);
          expect(Buffer.byteLength(start)).toBeLessThanOrEqual(bytes);
        },
      ),
    );
    expect(excerpt('abcdefghij', 6)).toBe('abcd\n[… 4 characters left out …]\nij');
  });
});
