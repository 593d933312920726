import { describe, expect, it } from '@jest/globals';
import { wantsColours } from './screen.ts';

describe('wantsColours', () => {
  it.each([
    ['on a terminal', { plain: false, environment: {}, onTerminal: true }, true],
    ['into a pipe or a file', { plain: false, environment: {}, onTerminal: false }, false],
    ['with --no-color', { plain: true, environment: {}, onTerminal: true }, false],
    ['with NO_COLOR', { plain: false, environment: { NO_COLOR: '1' }, onTerminal: true }, false],
    ['with an empty NO_COLOR', { plain: false, environment: { NO_COLOR: '' }, onTerminal: true }, true],
    ['on a dumb terminal', { plain: false, environment: { TERM: 'dumb' }, onTerminal: true }, false],
  ])('%s [CLI-2]', (_, { plain, environment, onTerminal }, expected) => {
    expect(wantsColours(plain, environment, onTerminal)).toBe(expected);
  });
});
