import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeText, type TextEncoding } from '../target/text-encoding.ts';
import { placesOf } from './text-places.ts';
import { spliced, unitsOf, unitsOfText } from './text-units.ts';

const encoding = fc.constantFrom<TextEncoding>('utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be');
/** Characters that share bytes or units with each other, so that a careless search finds halves. */
const LETTERS = [
  'a',
  '\u00e9',
  '\u00c3',
  '\u00a9',
  '\u6d4b',
  '\u{1f600}',
  '\u{1f601}',
  '\u0a0d',
  '\u0d0a',
  '\n',
];
const text = (maxLength: number, minLength = 0) =>
  fc.array(fc.constantFrom(...LETTERS), { minLength, maxLength }).map((parts) => parts.join(''));

describe('units', () => {
  it('find and replace in bytes what strings find and replace [FS-8]', () => {
    fc.assert(
      fc.property(encoding, fc.tuple(text(30), text(3, 1), text(4)), (chosen, [haystack, wanted, other]) => {
        // A file in UTF-8 whose text begins with U+FEFF has a byte-order mark; here the text is what follows it.
        const bytes = encodeText(`x${haystack}`, chosen);
        const places = placesOf(unitsOf(bytes, chosen), unitsOfText(wanted, chosen), 'separate');
        const plan = { places, replacement: unitsOfText(other, chosen) };
        const expected = encodeText(
          `x${haystack}`.replaceAll(wanted, () => other),
          chosen,
        );
        expect(spliced(bytes, plan, chosen)).toEqual(expected);
      }),
    );
  });
});
