import { describe, expect, it } from '@jest/globals';
import { definedIds, ledgerOf, titledIds } from './ledger.ts';

describe('the clause ledger', () => {
  it('finds clauses in list items and in table rows, not in the text', () => {
    const text = [
      '- ART-1 `seed` Stored.',
      '| DEL-2 `seed` | x |',
      'See ART-3 there.',
      '  - ART-4 nested',
      '- No id',
    ].join('\n');
    expect(definedIds(text)).toEqual(['ART-1', 'DEL-2']);
  });

  it('finds ids in titles of every form, and nowhere else', () => {
    const source = [
      `it('does a thing [ART-1] [ART-2]', () => {});`,
      'it.each([',
      '  [1, "[OUT-9]"],',
      `])('takes %j [ART-3]', () => {});`,
      `it.each(cases)('runs $name [ART-4]', () => {});`,
      'it(`stands in a template [ART-5]`, () => {});',
      '// [ART-6] is not proved by a comment',
      `const text = '[ART-7]';`,
      `it("has a \\" quote [ART-8]", () => {});`,
    ].join('\n');
    expect(titledIds(source)).toEqual(['ART-1', 'ART-2', 'ART-3', 'ART-4', 'ART-5', 'ART-8']);
  });

  it('tells missing, stale and unknown apart', () => {
    const ledger = ledgerOf({
      defined: ['A-1', 'A-2', 'A-3', 'A-4'],
      mentions: [
        { id: 'A-1', file: 'a' },
        { id: 'A-2', file: 'a' },
        { id: 'B-1', file: 'b' },
      ],
      open: ['A-2', 'A-3', 'C-1'],
    });
    expect(ledger).toEqual({
      proved: ['A-1', 'A-2'],
      missing: ['A-4'],
      stale: ['A-2', 'C-1'],
      unknown: [{ id: 'B-1', file: 'b' }],
    });
  });
});
