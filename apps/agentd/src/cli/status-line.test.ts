import { describe, expect, it } from '@jest/globals';
import { StatusLine } from './status-line.ts';

function statusLine(columns: number) {
  const written: string[] = [];
  const surface = {
    write: (text: string) => void written.push(text),
    columns: () => columns,
    style: (text: string) => `<${text}>`,
  };
  return { line: new StatusLine(surface), written };
}

const ERASE = '\r\u001B[K';

describe('StatusLine', () => {
  it('writes over what it showed, and nothing when nothing changed', () => {
    const { line, written } = statusLine(80);
    for (const text of ['one', 'one', 'two']) line.show(text);
    line.clear();
    line.clear();
    expect(written).toEqual([`${ERASE}<one>`, `${ERASE}<two>`, ERASE]);
  });

  it.each([
    ['abcdef', 'abcd'],
    ['日本語', '日本'],
    ['▸ a…z', '▸ a…'],
    ['a\n\tb\n', 'a b '],
    ['a\u001B[2Jb', 'a\uFFFD['],
  ])('T1 never wraps, breaks or obeys what it shows: %j', (text, shown) => {
    const { line, written } = statusLine(5);
    line.show(text);
    expect(written).toEqual([`${ERASE}<${shown}>`]);
  });
});
