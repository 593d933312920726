import { describe, expect, it } from '@jest/globals';
import { resultPage } from './result-page.ts';

describe('a page of a result', () => {
  it('has the status and the numbered lines in their frame [DLG-8] [FS-2]', () => {
    expect(resultPage('completed', 'one\r\n\n<three>', { offset: 0, limit: 2000 })).toEqual({
      text: '<status>completed</status>\n<content>\n1: one\n2: \n3: <three>\n</content>',
      metadata: { offset: 0, limit: 2000, total_lines: 3 },
    });
  });

  it('names the next offset where more remains [DLG-8]', () => {
    const text = Array.from({ length: 5 }, (_, index) => `l${index}`).join('\n');
    expect(resultPage('failed', text, { offset: 1, limit: 2 })).toEqual({
      text: '<status>failed</status>\n<content>\n2: l1\n3: l2\n</content>',
      metadata: { offset: 1, limit: 2, total_lines: 5, next_offset: 3 },
    });
    expect(resultPage('failed', text, { offset: 3, limit: 2 }).metadata).not.toHaveProperty('next_offset');
  });

  it('is empty for an empty text [DLG-8]', () => {
    const { text, metadata } = resultPage('running', '', { offset: 0, limit: 1 });
    expect(text).toBe('<status>running</status>\n<content>\n</content>');
    expect(metadata).toEqual({ offset: 0, limit: 1, total_lines: 0 });
  });

  it.each([
    ['one', 1, 'offset 1 is past the end: the result has 1 line; use an offset from 0 to 0'],
    ['', 3, 'offset 3 is past the end: the result has 0 lines; use offset 0'],
  ])('refuses an offset past the end of %j [DLG-8]', (text, offset, message) => {
    expect(() => resultPage('completed', text, { offset, limit: 1 })).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', message }),
    );
  });

  it('refuses a page over 2 MiB and says how many lines fit [OUT-17] [OUT-20]', () => {
    const text = `${'x'.repeat(1024 * 1024)}\n`.repeat(3);
    expect(() => resultPage('completed', text, { offset: 0, limit: 3 })).toThrow(
      expect.objectContaining({ code: 'resource_limit', message: expect.stringContaining('at most 1') }),
    );
    expect(resultPage('completed', text, { offset: 2, limit: 1 }).metadata).toMatchObject({ total_lines: 3 });
  });

  it('says of a single line over 2 MiB that no page can show it [OUT-20]', () => {
    expect(() => resultPage('completed', 'x'.repeat(2 ** 21), { offset: 0, limit: 1 })).toThrow(
      expect.objectContaining({ code: 'resource_limit', message: expect.stringContaining('line 1 alone') }),
    );
  });
});
