import { expect, it } from '@jest/globals';
import { nearest } from './near-match.ts';

it.each([
  ['modle', ['mode', 'model', 'server'], 'model'],
  ['MAX_LINES', ['max_lines', 'max_bytes'], 'max_lines'],
  ['x', ['model', 'server'], undefined],
  ['anything', [], undefined],
])('the word nearest to %s of %j is %s [CFG-2]', (written, known, expected) => {
  expect(nearest(written, known)).toBe(expected);
});
