import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sha256Of, type FileState } from '../target/file-state.ts';
import { continuedChain, expectedState, shiftedPlaces, type EditChain } from './edit-chain.ts';
import { withReplaced } from '../testing/with-replaced.ts';

const stateOf = (text: string, ino: number): FileState => ({
  identity: { kind: 'file', dev: 1n, ino: BigInt(ino) },
  sha256: sha256Of(Buffer.from(text)),
});

/** Cuts of one text into pieces, some of which are replaced, in some order. */
const turn = fc
  .array(
    fc.record({
      piece: fc.string({ minLength: 1, maxLength: 4 }),
      replacement: fc.option(fc.string({ maxLength: 6 })),
      order: fc.nat(),
    }),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((pieces) => {
    let start = 0;
    return pieces.map(({ piece, replacement, order }) => ({
      piece,
      replacement,
      order,
      start,
      end: (start += piece.length),
    }));
  });

describe('edits of one turn', () => {
  it('come to the same text in any order [FS-15]', () => {
    fc.assert(
      fc.property(turn, (pieces) => {
        const base = pieces.map(({ piece }) => piece).join('');
        const prepared = stateOf(base, 0);
        let text = base;
        let chain: EditChain | undefined;
        const edits = pieces
          .filter(({ replacement }) => replacement !== null)
          .toSorted((a, b) => a.order - b.order);
        for (const [index, { start, end, replacement }] of edits.entries()) {
          expect(expectedState(chain, prepared)).toEqual(stateOf(text, index));
          const places = shiftedPlaces([{ start, end }], chain, prepared);
          text = withReplaced(text, places ?? [], replacement ?? '');
          const current = stateOf(text, index + 1);
          chain = continuedChain(chain, prepared, {
            places: [{ start, end }],
            length: (replacement ?? '').length,
            current,
          });
        }
        expect(text).toBe(pieces.map(({ piece, replacement }) => replacement ?? piece).join(''));
      }),
    );
  });

  it('refuse a place that shares a character with an earlier one [FS-15]', () => {
    fc.assert(
      fc.property(fc.nat(9), fc.nat(9), fc.integer({ min: 1, max: 5 }), (one, other, length) => {
        const prepared = stateOf('0123456789abcdef', 0);
        const current = stateOf('after', 1);
        const first = { start: one, end: one + 3 };
        const second = { start: other, end: other + length };
        const chain = continuedChain(undefined, prepared, { places: [first], length: 7, current });
        const overlaps = second.start < first.end && first.start < second.end;
        expect(shiftedPlaces([second], chain, prepared) === null).toBe(overlaps);
      }),
    );
  });

  it('start anew on a file that was prepared after them [FS-15]', () => {
    const [before, after] = [stateOf('a', 0), stateOf('b', 1)];
    const chain = continuedChain(undefined, before, {
      places: [{ start: 0, end: 1 }],
      length: 1,
      current: after,
    });
    expect(expectedState(chain, after)).toBe(after);
    expect(shiftedPlaces([{ start: 0, end: 1 }], chain, after)).toEqual([{ start: 0, end: 1 }]);
  });
});
