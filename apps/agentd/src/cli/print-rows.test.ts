import { describe, expect, it } from '@jest/globals';
import { printRows } from './print-rows.ts';

function printed(rows: readonly (readonly string[])[]): string {
  const parts: string[] = [];
  printRows({ print: (text) => void parts.push(text) }, rows);
  return parts.join('');
}

describe('rows on a screen', () => {
  it('aligns its columns and keeps what indents the first one [CLI-1]', () => {
    expect(
      printed([
        ['root', 'running', 'x'],
        ['  child_1', 'ok', ''],
      ]),
    ).toBe('root       running  x\n  child_1  ok\n');
  });

  it('keeps every row on its line, whatever is in it: none can be forged [CLI-1] [CLI-2]', () => {
    const title = 'look\r\n  worker_00000000\tcompleted \u2028 \u001B[2Kdone';
    expect(printed([['a', title]])).toBe('a  look worker_00000000 completed \uFFFD[2Kdone\n');
  });
});
