import { describe, expect, it } from '@jest/globals';
import { attachmentName, requestNames } from './filename.ts';
import { attachmentOf } from './testing/models.ts';

describe('the name of an attachment', () => {
  it.each([
    ['/a/b/shot 1.png', 'shot 1.png'],
    ['dir/', 'dir'],
    ['x\u0000\n.png', 'x  .png'],
    ['\ud800.png', '\ufffd.png'],
    ['', null],
    ['///', null],
    [null, null],
  ])('makes of %j the name %j [MED-1]', (path, name) => {
    expect(attachmentName(path)).toBe(name);
  });

  it('keeps the end of a long name and whole characters [MED-1]', () => {
    const name = attachmentName(`${'测'.repeat(200)}.png`) ?? '';
    expect(name).toMatch(/^测+\.png$/);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  });
});

describe('names in a request', () => {
  it('are unique, safe for every provider, and the same in every later request [MED-5]', () => {
    const files = [
      attachmentOf(1, { filename: 'a/report (final).v2.pdf', mime_type: 'application/pdf' }),
      attachmentOf(2, { filename: 'b/report (final).v2.pdf', mime_type: 'application/pdf' }),
      attachmentOf(1, { filename: 'again.pdf', mime_type: 'application/pdf' }),
      attachmentOf(3, { filename: '报告.png' }),
      attachmentOf(4, { filename: null, mime_type: 'application/x-other' }),
    ];
    const names = files.map(requestNames());
    expect(names).toEqual([
      '000000000001-a-report-final-v2.pdf',
      '000000000002-b-report-final-v2.pdf',
      '000000000001-2-again.pdf',
      '000000000003.png',
      '000000000004.bin',
    ]);
    expect(files.slice(0, 2).map(requestNames())).toEqual(names.slice(0, 2));
  });
});
