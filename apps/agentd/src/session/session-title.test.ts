import { expect, it } from '@jest/globals';
import { titleFrom } from './session-title.ts';

it.each([
  ['Fix it', 'Fix it'],
  ['\n\n  Fix   it\tnow \nand more', 'Fix it now'],
  ['', ''],
  ['é'.repeat(100), `${'é'.repeat(79)}…`],
  ['😀'.repeat(81), `${'😀'.repeat(79)}…`],
])('makes a title of one short line [CLI-1]', (text, title) => {
  expect(titleFrom(text)).toBe(title);
});
