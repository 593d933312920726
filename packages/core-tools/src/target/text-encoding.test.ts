import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  Utf8Stream,
  checkedEncoding,
  decodeAs,
  encodeText,
  encodingOf,
  isNotText,
  markLength,
  type TextEncoding,
} from './text-encoding.ts';

const encodings: readonly TextEncoding[] = ['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be'];
const text = fc
  .string({ unit: fc.constantFrom('a', '\u00e9', '\u6d4b', '\u{1f600}', '\n', '\ufeff'), maxLength: 30 })
  .map((t) => `x${t}`);

function streamed(bytes: Buffer, step: number): Buffer {
  const encoding = encodingOf(bytes);
  const stream = new Utf8Stream(encoding);
  const parts: Buffer[] = [];
  for (let at = markLength(encoding); at < bytes.length; at += step)
    parts.push(Buffer.from(stream.push(bytes.subarray(at, at + step))));
  stream.end();
  return Buffer.concat(parts);
}

describe('text encodings', () => {
  it('come back to the same bytes, whole or in chunks [FS-4] [FS-8]', () => {
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(...encodings),
        fc.integer({ min: 1, max: 5 }),
        (value, encoding, step) => {
          const bytes = encodeText(value, encoding);
          expect(checkedEncoding(bytes)).toBe(encoding);
          expect(decodeAs(bytes, encoding)).toBe(value);
          expect(streamed(bytes, step).toString('utf8')).toBe(value);
        },
      ),
    );
  });

  it('name the first bad byte of the file wherever chunks end [FS-4]', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (array, step) => {
        const bytes = Buffer.concat([Buffer.from('ab'), array]);
        const valid = !bytes.includes(0) && Buffer.from(bytes.toString('utf8')).equals(bytes);
        let problem = '';
        try {
          streamed(bytes, step);
        } catch (error) {
          expect(isNotText(error)).toBe(true);
          problem = (error as Error).message;
        }
        expect(problem === '').toBe(valid);
        const at = Number(/byte (\d+)/.exec(problem)?.[1] ?? bytes.length);
        expect(bytes.subarray(0, at).includes(0)).toBe(false);
        expect(Buffer.from(bytes.subarray(0, at).toString('utf8'))).toEqual(bytes.subarray(0, at));
      }),
    );
  });

  it.each([['fffe00d86100'], ['feffd800'], ['fffe61'], ['fffe61000000'], ['efbbbfff'], ['eda080']])(
    'refuse %s [FS-4]',
    (hex) => {
      expect(() => checkedEncoding(Buffer.from(hex, 'hex'))).toThrow(/not valid|NUL/);
    },
  );
});
