import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TerminalText } from './terminal-text.ts';

/** The text that stays visible when `chunks` arrive one after the other. */
function visible(...chunks: readonly string[]): string {
  const terminal = new TerminalText();
  let text = '';
  for (const chunk of chunks) {
    const step = terminal.push(chunk);
    if (step.restartLine) text = text.slice(0, text.lastIndexOf('\n') + 1);
    text += step.text;
  }
  return text;
}

describe('TerminalText', () => {
  it.each([
    ['plain text', 'plain\ttext\n', 'plain\ttext\n'],
    ['colours', '\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m', 'red and blue'],
    ['cursor and mode sequences', '\x1b[?25l\x1b[2J\x1b[H\x1b=x\x1b(By\x1b[?25h', 'xy'],
    ['a window title that BEL ends', '\x1b]0;title\x07text', 'text'],
    ['a hyperlink that ST ends', '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['one-character control sequences', '\x9b31mred\x9d0;t\x9c!', 'red!'],
    ['BEL', 'ding\x07dong', 'dingdong'],
    ['NUL', 'a\0b', 'a\u2400b'],
    ['a progress bar', ' 10%\r 50%\r100%\ndone\n', '100%\ndone\n'],
    ['CR LF', 'one\r\ntwo\r\n', 'one\r\ntwo\r\n'],
    ['CR CR LF', 'one\r\r\ntwo', 'one\r\ntwo'],
    ['a CR at the end', 'almost\r', 'almost'],
    ['a CR and a sequence', '50%\r\x1b[K100%', '100%'],
    ['a string that nothing ends', '\x1b]0;no end\nnext', '\nnext'],
    ['a sequence that breaks off', '\x1b[12\nnext \x1b\x1b[1mx', '\nnext x'],
    ['a string broken by a sequence', '\x1bPdata\x1b[31mred', 'red'],
    ['text outside ASCII', 'é€𝄞\x1b[0m§', 'é€𝄞§'],
  ])('shows what stays visible of %s [BASH-8]', (_, written, shown) => {
    expect(visible(written)).toBe(shown);
  });

  const written = fc.array(
    fc.constantFrom(
      'a',
      'bc',
      '\n',
      '\r',
      '\r\n',
      '\x1b',
      '[',
      '31m',
      ']0;',
      '\x07',
      '\\',
      '\0',
      '\x9b',
      '€',
      'P',
    ),
    { maxLength: 40 },
  );

  it('gives the same text however the output was chunked [BASH-8] [OUT-14]', () => {
    fc.assert(
      fc.property(written, (parts) => expect(visible(...parts)).toBe(visible(parts.join('')))),
      { numRuns: 1000 },
    );
  });

  it('keeps every LF, so that line numbers are those of the stored text [BASH-8] [OUT-5]', () => {
    const lineFeeds = (text: string): number => text.split('\n').length;
    fc.assert(
      fc.property(written, (parts) => {
        expect(lineFeeds(visible(...parts))).toBe(lineFeeds(parts.join('')));
      }),
    );
  });
});
