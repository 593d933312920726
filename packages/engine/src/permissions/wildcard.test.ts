import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { processorMs } from '@agentd/contract/testing';
import { matchesPattern, weightOf } from './wildcard.ts';

/** The rules of PERM-1 word for word, with no thought of speed. */
function naiveMatch(pattern: readonly string[], text: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return text.length === 0;
  if (head === '*') {
    return text.some((_, taken) => naiveMatch(rest, text.slice(taken))) || naiveMatch(rest, []);
  }
  if (text.length === 0) return false;
  return (head === '?' || head === text[0]) && naiveMatch(rest, text.slice(1));
}

describe('matchesPattern', () => {
  it.each([
    ['*', '', true],
    ['*', 'a\nb/c', true],
    ['', '', true],
    ['', 'a', false],
    ['?', '', false],
    ['?', '😀', true],
    ['??', '😀', false],
    ['*??', '😀', false],
    ['src/*', 'src/', true],
    ['src/*', 'src', false],
    ['*.env', 'a/.env', true],
    ['*.env', '.env.local', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['artifact://*', 'artifact://ab/stdout', true],
    ['Git *', 'git status', false],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
  ])('%j on %j is %j [PERM-1]', (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected);
  });

  it('agrees with the plain reading of the rule [PERM-1]', () => {
    const pattern = fc.array(fc.constantFrom('*', '?', 'a', 'b', '😀'), { maxLength: 7 });
    const text = fc.array(fc.constantFrom('a', 'b', '😀', '\n'), { maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        expect(matchesPattern(pattern.join(''), text.join(''))).toBe(naiveMatch(pattern, text));
      }),
      { numRuns: 1000 },
    );
  });

  it.each(['*a*a*a*a*b', '*a?a*a?a*b', `${'*a'.repeat(50)}b`, '*'.repeat(1000)])(
    'takes a hostile pattern %j over 100 kB in its stride [PERM-2]',
    (pattern) => {
      const text = 'a'.repeat(100_000);
      let isMatch = false;
      const spentMs = processorMs(() => (isMatch = matchesPattern(pattern, text)));
      expect(isMatch).toBe(!pattern.endsWith('b'));
      expect(spentMs).toBeLessThan(1000);
    },
  );

  it('counts characters, not code units [PERM-2]', () => {
    expect(weightOf('😀*?a')).toEqual({ literals: 2, wildcards: 2 });
  });
});
