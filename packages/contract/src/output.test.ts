import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { declarationProblem, isStreamName, streamsOf } from './output.ts';

const ALLOWED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-';

describe('stream names', () => {
  it.each(['stdout', 'A', 'a.b', '...', '-', '_', 'x'.repeat(64)])('takes %j [OUT-1]', (name) => {
    expect(isStreamName(name)).toBe(true);
  });

  it.each(['', '.', '..', 'a/b', 'a b', 'é', 'x'.repeat(65), 'a\n', 'a%41', 'a\u0000'])(
    'refuses %j [OUT-1]',
    (name) => {
      expect(isStreamName(name)).toBe(false);
    },
  );

  it('agrees with the grammar for any text [OUT-1]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const right =
          name.length >= 1 &&
          name.length <= 64 &&
          [...name].every((character) => ALLOWED.includes(character));
        expect(isStreamName(name)).toBe(right && name !== '.' && name !== '..');
      }),
    );
  });
});

describe('output declarations', () => {
  it('takes 1 to 8 unique names and keeps their order, which is case-sensitive [OUT-1]', () => {
    const streams = ['b', 'a', 'A', 'c', 'd', 'e', 'f', 'g'];
    expect(declarationProblem({ kind: 'named', streams })).toBeUndefined();
    expect(streamsOf({ kind: 'named', streams })).toEqual(streams);
    expect(streamsOf({ kind: 'single' })).toEqual([null]);
  });

  it.each([
    [[], 'takes 1 to 8 streams, not 0'],
    [['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'], 'takes 1 to 8 streams, not 9'],
    [['a', 'a'], '"a" is declared twice'],
    [['a', '..'], '".." must be'],
  ])('refuses %j [OUT-1]', (streams, problem) => {
    expect(declarationProblem({ kind: 'named', streams })).toContain(problem);
  });
});
