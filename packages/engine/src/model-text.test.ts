import { describe, expect, it } from '@jest/globals';
import { modelTextOf } from './model-text.ts';

const result = (text: string, metadata = {}) => ({ text, metadata });
const error = { code: 'timeout', message: 'no end after 5 ms' } as const;

describe('modelTextOf', () => {
  it.each([
    ['the output alone of a completed call', result('out\n'), null, 'out\n'],
    [
      'the error in a line after the output',
      result('out', {}),
      error,
      'out\nerror: timeout: no end after 5 ms',
    ],
    ['no second line end before the error', result('out\n'), error, 'out\nerror: timeout: no end after 5 ms'],
    ['the error alone without any output', null, error, 'error: timeout: no end after 5 ms'],
    ['where to go on, at the end', result('a\nb\n', { next_offset: 2 }), null, 'a\nb\n[next_offset: 2]'],
    [
      'all three, in order',
      result('a', { next_offset: 0 }),
      error,
      'a\nerror: timeout: no end after 5 ms\n[next_offset: 0]',
    ],
    ['no offset at the end of a page', result('a', { next_offset: null }), null, 'a'],
    ['nothing of nothing', result(''), null, ''],
  ])('shows %s [ERR-2]', (...[, source, fault, text]) => {
    expect(modelTextOf({ result: source, error: fault })).toBe(text);
  });

  it('shows no other metadata and no display [ERR-2]', () => {
    const record = {
      ...result('out', { path: '/secret', exit_code: 0 }),
      display: 'for people',
      attachments: [],
      retained_output: null,
    };
    expect(modelTextOf({ result: record, error: null })).toBe('out');
  });
});
