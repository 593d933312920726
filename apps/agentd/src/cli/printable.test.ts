import { describe, expect, it } from '@jest/globals';
import { printable } from './printable.ts';

describe('text from outside on a terminal', () => {
  it.each([
    ['\u001B[2J\u001B]0;title\u0007', '\uFFFD[2J\uFFFD]0;title\uFFFD'],
    ['done\rfake', 'done\uFFFDfake'],
    ['\u009B31m\u007F\u0000', '\uFFFD31m\uFFFD\uFFFD'],
    ['two\r\nlines\tand a tab\n', 'two\nlines\tand a tab\n'],
    ['größe 🙂 e\u0301', 'größe 🙂 e\u0301'],
  ])('%j becomes %j [CLI-2]', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});
