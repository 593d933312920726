import { describe, expect, it } from '@jest/globals';
import { deflateSync } from 'node:zlib';
import { processorMs } from '@agentd/contract/testing';
import { inspect, type Inspection } from '../../inspect.ts';
import { formatOf } from '../../media-formats.ts';
import { join, zeros, type Part } from '../../testing/byte-parts.ts';
import { pdfSample } from '../../testing/pdf-samples.ts';

const pdf = formatOf('application/pdf');

function verdictOn(bytes: Uint8Array): Inspection & { readonly spentMs: number } {
  if (pdf === undefined) throw new Error('no format for PDF');
  let verdict: Inspection | undefined;
  const spentMs = processorMs(() => (verdict = inspect(bytes, pdf)));
  if (verdict === undefined) throw new Error('no verdict');
  return { ...verdict, spentMs };
}

const problem = (pattern: RegExp): object => ({ ok: false, problem: expect.stringMatching(pattern) });

/** A file of these objects, with a table that lists them. */
function fileOf(objects: Readonly<Record<number, Part>>, trailer = '/Root 1 0 R'): Uint8Array {
  let body = join('%PDF-1.5\n');
  const lines: string[] = [];
  for (const [number, content] of Object.entries(objects)) {
    lines.push(`${number} 1\n${String(body.length).padStart(10, '0')} 00000 n \n`);
    body = join(body, `${number} 0 obj\n`, content, '\nendobj\n');
  }
  return join(body, `xref\n${lines.join('')}trailer\n<< ${trailer} >>\nstartxref\n${body.length}\n%%EOF`);
}

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
const TREE = '<< /Type /Pages /Kids [3 0 R] >>';
const PAGE = '<< /Type /Page >>';

const objectStream = (content: string, { count = 1, first = 4, length = '' } = {}): Uint8Array => {
  const packed = deflateSync(content);
  return join(
    `<< /Type /ObjStm /N ${count} /First ${first} /Filter /FlateDecode /Length ${length || packed.length} >>\nstream\n`,
    packed,
    '\nendstream',
  );
};

describe('walkPdf', () => {
  it.each(['table', 'stream', 'updated'] as const)(
    'counts the pages of a file with a %s [MED-1] [MED-11]',
    (xref) => {
      expect(verdictOn(pdfSample({ pages: 150, xref }))).toMatchObject({ ok: true, facts: { pages: 150 } });
    },
  );

  it('follows nested page trees and hybrid files [MED-1]', () => {
    const nested = fileOf({
      1: CATALOG,
      2: '<< /Type /Pages /Kids [3 0 R 4 0 R] >>',
      3: '<< /Type /Pages /Kids [5 0 R 6 0 R] >>',
      4: PAGE,
      5: PAGE,
      6: '<< /Type /Page /Contents [7 0 R] /A (a \\) string) /B <414243> /C#20D [1.5 -.5 true null] >> % a comment',
      7: '<< /Length 8 0 R >>\nstream\r\nq Q\nendstream',
      8: '3',
    });
    expect(verdictOn(nested)).toMatchObject({ ok: true, facts: { pages: 3 } });
  });

  it('finds in the stream of a hybrid file what its table hides [MED-1]', () => {
    const row = (offset: number): Uint8Array => Uint8Array.from([1, offset >> 8, offset & 255, 0]);
    const head = `%PDF-1.5\n1 0 obj\n${CATALOG}\nendobj\n`;
    const tree = `2 0 obj\n${TREE}\nendobj\n3 0 obj\n${PAGE}\nendobj\n`;
    const at = head.length + tree.length;
    const rows = join(row(head.length), row(head.length + tree.indexOf('3 0 obj')));
    const xref = join(
      `9 0 obj\n<< /Type /XRef /Size 9 /Index [2 2] /W [1 2 1] /Length 8 >>\nstream\n`,
      rows,
      '\nendstream\nendobj\n',
    );
    const table = `xref\n0 2\n0000000000 65535 f \n0000000009 00000 n \ntrailer\n<< /Root 1 0 R /XRefStm ${at} >>\n`;
    const bytes = join(head, tree, xref, table, `startxref\n${at + xref.length}\n%%EOF`);
    expect(verdictOn(bytes)).toMatchObject({ ok: true, facts: { pages: 1 } });
  });

  it('names an encrypted file as such, whatever else is wrong with it [MED-1] [field A16]', () => {
    expect(verdictOn(pdfSample({ isEncrypted: true }))).toMatchObject(problem(/^it is encrypted/));
    expect(verdictOn(fileOf({}, '/Encrypt 9 0 R'))).toMatchObject(problem(/^it is encrypted/));
  });

  it.each([
    ['without an end', pdfSample().subarray(0, 400), /cut off: no "startxref"/],
    ['with something behind its end', join(pdfSample(), '<html>'), /does not end with "startxref"/],
    ['of no known version', join('%PDF-9.9\n', pdfSample().subarray(9)), /no version/],
    [
      'whose end points to no cross-reference',
      join(pdfSample().subarray(0, 60), 'startxref\n9\n%%EOF'),
      /no stream stands|no cross-reference|missing at byte/,
    ],
    ['without a catalog', fileOf({ 1: '[1 2]' }), /no catalog/],
    ['without pages', fileOf({ 1: CATALOG, 2: '<< /Type /Pages /Kids [] >>' }), /no page/],
    ['with a page missing', fileOf({ 1: CATALOG, 2: TREE }), /hole/],
    [
      'with an object elsewhere',
      fileOf({ 1: CATALOG, 2: TREE, 3: PAGE }).with(9, 0x39),
      /object 1 does not stand at byte 9/,
    ],
    [
      'with a content stream cut off',
      fileOf({ 1: CATALOG, 2: TREE, 3: '<< /Contents 4 0 R >>', 4: '<< /Length 5000 >>\nstream\nq' }),
      /stream at byte \d+ is cut off: it says 5000 bytes/,
    ],
    [
      'with a stream of another length',
      fileOf({
        1: CATALOG,
        2: TREE,
        3: '<< /Contents 4 0 R >>',
        4: '<< /Length 2 >>\nstream\nq Q Q\nendstream',
      }),
      /does not end after 2 bytes/,
    ],
    [
      'that is damaged inside an object',
      fileOf({ 1: CATALOG, 2: '<< /Kids [3 0 R >>' }),
      /no object stands|is damaged/,
    ],
  ])('refuses a file %s [MED-1]', (_what, bytes, pattern) => {
    expect(verdictOn(bytes)).toMatchObject(problem(pattern));
  });
});

describe('hostile files', () => {
  it('ends where cross-references point in a circle [MED-1]', () => {
    const bytes = fileOf({ 1: CATALOG }, '/Root 1 0 R /Prev 00000');
    const start = Number(/startxref\n(\d+)/.exec(Buffer.from(bytes).toString('latin1'))?.[1]);
    const circle = Buffer.from(
      Buffer.from(bytes)
        .toString('latin1')
        .replace('00000 >>', `${String(start).padStart(5, '0')} >>`),
      'latin1',
    );
    expect(verdictOn(circle)).toMatchObject(problem(/circle/));
  });

  it('ends where pages hold each other [MED-1]', () => {
    expect(verdictOn(fileOf({ 1: CATALOG, 2: TREE, 3: TREE.replace('3 0 R', '2 0 R') }))).toMatchObject(
      problem(/holds object 2 twice/),
    );
    expect(verdictOn(fileOf({ 1: '<< /Pages 1 0 R >>', 2: '2 0 R' }, '/Root 2 0 R'))).toMatchObject(
      problem(/leads nowhere/),
    );
  });

  it('ends where object streams need each other [MED-1]', () => {
    const rows = (entries: readonly (readonly [number, number, number])[]): Uint8Array =>
      Uint8Array.from(entries.flatMap(([type, second, third]) => [type, second >> 8, second & 255, third]));
    const body = join('%PDF-1.5\n4 0 obj\n', objectStream('1 0 7', { length: '1 0 R' }), '\nendobj\n');
    const data = rows([
      [0, 0, 0],
      [2, 4, 0],
      [0, 0, 0],
      [0, 0, 0],
      [1, 9, 0],
    ]);
    const xref = join(
      `5 0 obj\n<< /Type /XRef /Size 5 /W [1 2 1] /Root 1 0 R /Length ${data.length} >>\nstream\n`,
      data,
      '\nendstream\nendobj\n',
    );
    expect(verdictOn(join(body, xref, `startxref\n${body.length}\n%%EOF`))).toMatchObject(
      problem(/without itself/),
    );
  });

  it('does not unpack a bomb [MED-1]', () => {
    const bomb = deflateSync(zeros(80 * 1024 * 1024));
    const head = '%PDF-1.5\n';
    const xref = join(
      `5 0 obj\n<< /Type /XRef /Size 5 /W [1 2 1] /Filter /FlateDecode /Length ${bomb.length} >>\nstream\n`,
      bomb,
      '\nendstream\nendobj\n',
    );
    const bytes = join(head, xref, `startxref\n${head.length}\n%%EOF`);
    const before = process.memoryUsage().arrayBuffers;
    const verdict = verdictOn(bytes);
    expect(verdict).toMatchObject({ ok: false, code: 'MEDIA_OVERSIZED' });
    // Not resident memory, which follows what the machine and other tests do.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('spends time in proportion to the file, however often its parts are asked for [MED-1]', () => {
    const long = `[${'9 '.repeat(100_000)}]`;
    const kids = Array.from({ length: 5000 }, () => '<< /Contents 4 0 R >>').join(' ');
    const bytes = fileOf({ 1: CATALOG, 2: `<< /Kids [${kids}] >>`, 3: PAGE, 4: long });
    const verdict = verdictOn(bytes);
    expect(verdict).toMatchObject(problem(/too often/));
    expect(verdict.spentMs).toBeLessThan(2000);
  });

  it.each([
    ['nested arrays', fileOf({ 1: '['.repeat(100_000) }), /nest more than 64 deep/],
    [
      'a table that says more than it holds',
      join('%PDF-1.5\nxref\n0 999999999\n', zeros(40), '\nstartxref\n9\n%%EOF'),
      /missing at byte/,
    ],
    ['a string without end', fileOf({ 1: `(${'('.repeat(5000)}` }), /does not end/],
    [
      'pages without number',
      fileOf({ 1: CATALOG, 2: `<< /Kids [${'<<>> '.repeat(10_001)}] >>` }),
      /more than 10000 pages/,
    ],
  ])('ends on %s [MED-1]', (_what, bytes, pattern) => {
    const verdict = verdictOn(bytes);
    expect(verdict).toMatchObject(problem(pattern));
    expect(verdict.spentMs).toBeLessThan(2000);
  });
});
