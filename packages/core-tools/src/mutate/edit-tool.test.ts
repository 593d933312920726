import { describe, expect, it } from '@jest/globals';
import { chmod, link, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  FAST_PARENT,
  callTool,
  contextIn,
  finishCall,
  prepareCall,
  runTurn,
  scratchFolder,
  textOf,
} from '../testing/calls.ts';
import { encodeText } from '../target/text-encoding.ts';
import { createEditTool } from './edit-tool.ts';
import { createWriteTool } from './write-tool.ts';

interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll?: boolean;
}

async function setup(parent?: string) {
  const folder = await scratchFolder(parent);
  const { path } = folder;
  const tool = createEditTool({ stages: null, home: path });
  const write = createWriteTool({ stages: null, home: path });
  const put = (content: string | Uint8Array, name = 'f') => writeFile(join(path, name), content);
  const bytes = (name = 'f') => readFile(join(path, name));
  const edit = (args: Edit, filePath = 'f') => callTool(tool, { filePath, ...args }, contextIn(path));
  return { path, tool, write, put, bytes, edit, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const saying = (code: string, text: string) => ({ code, message: expect.stringContaining(text) });

describe('edit', () => {
  /** What is in the file, the edit, what must be there afterwards; all byte for byte. */
  it.each<readonly [string, string, readonly [Edit, string]]>([
    ['the only place [FS-7]', 'a b c', [{ oldString: 'b', newString: 'B' }, 'a B c']],
    ['nothing in its place [FS-7]', 'a b c', [{ oldString: ' b', newString: '' }, 'a c']],
    ['every place [FS-8]', 'x y x', [{ oldString: 'x', newString: 'xx', replaceAll: true }, 'xx y xx']],
    ['places that touch [FS-8]', 'aaaa', [{ oldString: 'aa', newString: 'b', replaceAll: true }, 'bb']],
    [
      'patterns literally [FS-8]',
      'v=1',
      [{ oldString: '1', newString: "$& $1 $' \\n \\\\" }, "v=$& $1 $' \\n \\\\"],
    ],
    [
      'over CRLF [FS-8] [field B1]',
      'a\r\nb\r\nc\r\n',
      [{ oldString: 'a\nb', newString: 'A\nB' }, 'A\r\nB\r\nc\r\n'],
    ],
    [
      'given with CRLF [FS-8] [field B1]',
      'a\r\nb\r\nc\r\n',
      [{ oldString: 'a\r\nb', newString: 'A\r\nB' }, 'A\r\nB\r\nc\r\n'],
    ],
    ['CRLF where the file has LF [FS-8]', 'a\nb\nc\n', [{ oldString: 'a\r\nb', newString: 'A' }, 'A\nc\n']],
    [
      'a line with its end [FS-8] [field B18]',
      'x\r\ny\r\n',
      [{ oldString: 'x\n', newString: 'z\n' }, 'z\r\ny\r\n'],
    ],
    ['an end before a line [FS-8]', 'x\r\ny\r\n', [{ oldString: '\ny', newString: '' }, 'x\r\n']],
    ['the start of a line [FS-8]', 'x\r\ny\r\n', [{ oldString: '\ny', newString: '\nY' }, 'x\r\nY\r\n']],
    [
      'the start of a line of a mixed file [FS-8]',
      'x\r\ny\n',
      [{ oldString: '\ny', newString: '\nY' }, 'x\r\nY\n'],
    ],
    ['literally in a mixed file [FS-8]', 'x\r\ny\n', [{ oldString: 'x', newString: '1\n2' }, '1\n2\r\ny\n']],
    [
      'with the mark kept [FS-8] [field B8]',
      '\ufeffhello\n\u4e2d\n',
      [{ oldString: 'hello', newString: 'hi' }, '\ufeffhi\n\u4e2d\n'],
    ],
    [
      'with no mark added [FS-8] [field B8]',
      'hello\n\u4e2d\n',
      [{ oldString: 'hello', newString: 'hi' }, 'hi\n\u4e2d\n'],
    ],
    [
      'beside a look-alike [FS-7] [field B11]',
      'g = "hi"\ng = \u201chi\u201d\n',
      [{ oldString: 'g = "hi"', newString: 'g = 1' }, 'g = 1\ng = \u201chi\u201d\n'],
    ],
    [
      'straight quotes by curly ones [FS-8] [field B12]',
      "'%s'",
      [{ oldString: "'%s'", newString: '\u2018%s\u2019 \u2014' }, '\u2018%s\u2019 \u2014'],
    ],
    [
      'without a last newline [FS-8] [field B15]',
      'l1\nl2\nl3',
      [{ oldString: 'l1', newString: 'L1' }, 'L1\nl2\nl3'],
    ],
    ['before blank lines [FS-8] [field B16]', 'a\n\n\n', [{ oldString: 'a', newString: 'b' }, 'b\n\n\n']],
    [
      'before trailing spaces [FS-8] [field B16]',
      'a   \n\t ',
      [{ oldString: 'a', newString: 'b' }, 'b   \n\t '],
    ],
    [
      'escapes as they stand [FS-8] [field B20]',
      'p("a\\nb")',
      [{ oldString: 'a\\nb', newString: 'c\\t\\u0041' }, 'p("c\\t\\u0041")'],
    ],
    ['a lone return as given [FS-8]', 'a\rb\r\nc', [{ oldString: 'a\rb', newString: 'x' }, 'x\r\nc']],
  ])('replaces %s', async (_what, before, [edit, after]) => {
    await using s = await setup();
    await s.put(before);
    await s.edit(edit);
    expect(await s.bytes()).toEqual(Buffer.from(after));
    expect(await readdir(s.path)).toEqual(['f']);
  });

  it.each([['utf-16le'], ['utf-16be']])('keeps a file in %s what it is [FS-8]', async (encoding) => {
    await using s = await setup();
    const encoded = (text: string) => {
      const units = Buffer.from(`\ufeff${text}`, 'utf16le');
      return encoding === 'utf-16be' ? units.swap16() : units;
    };
    await s.put(encoded('a\u{1f600}\r\nb\r\n'));
    await s.edit({ oldString: '\u{1f600}\nb', newString: '\u6d4b\nB' });
    expect(await s.bytes()).toEqual(encoded('a\u6d4b\r\nB\r\n'));
  });

  it('says in one line what it did, and shows the difference in metadata [FS-13]', async () => {
    await using s = await setup();
    await s.put('a\nb\nc\nb\n');
    const one = await s.edit({ oldString: 'c', newString: 'C' });
    expect(textOf(one)).toBe('Edited f (line 3).');
    expect(one.metadata).toMatchObject({
      path: join(s.path, 'f'),
      bytes: 8,
      change: 'replaced',
      replacements: 1,
    });
    expect(one.metadata?.['diff']).toContain('-c\n+C\n');
    const all = await s.edit({ oldString: 'b', newString: 'B', replaceAll: true });
    expect(textOf(all)).toBe('Edited f (2 places, lines 2 and 4).');
    expect(all.metadata).toMatchObject({ replacements: 2 });
  });

  it('says how many places there are and on which lines [FS-7]', async () => {
    await using s = await setup();
    await s.put('x\ny\nx\nx x\n');
    await expect(s.edit({ oldString: 'x', newString: 'z' })).rejects.toMatchObject(
      saying('edit_ambiguous', 'occurs 4 times in f, on lines 1, 3 and 4'),
    );
    await s.put('aaa');
    await expect(s.edit({ oldString: 'aa', newString: 'b' })).rejects.toMatchObject(
      saying('edit_ambiguous', 'occurs 2 times in f, on line 1'),
    );
    await s.put('a\r\nb\r\na\r\nb\r\n');
    await expect(s.edit({ oldString: 'a\nb', newString: 'c' })).rejects.toMatchObject(
      saying('edit_ambiguous', 'on lines 1 and 3'),
    );
    await s.put('x\n'.repeat(50_000));
    await expect(s.edit({ oldString: 'x', newString: 'z' })).rejects.toMatchObject(
      saying('edit_ambiguous', '18, 19, 20 and 9980 more'),
    );
  });

  it('does not count for ever, and says so [FS-7]', async () => {
    await using s = await setup();
    await s.put('a\n'.repeat(20_000));
    await expect(s.edit({ oldString: 'a', newString: 'b' })).rejects.toMatchObject(
      saying('edit_ambiguous', 'at least 10000 times in f, on lines 1, 2, 3,'),
    );
  });

  it('never edits what merely resembles the text, and points at it [FS-7] [field B9]', async () => {
    await using s = await setup();
    const content = '\n  f {\n x=1\n y=2\n z=3\n}\n';
    await s.put(content);
    await expect(s.edit({ oldString: 'f {\n x=1\n y=99\n z=3\n}', newString: '' })).rejects.toMatchObject(
      saying('edit_not_found', 'occurs 0 times in f'),
    );
    await expect(s.edit({ oldString: 'f {\n x=1\n y=99', newString: '' })).rejects.toMatchObject(
      saying('edit_not_found', 'is line 2'),
    );
    await expect(s.edit({ oldString: 'F {', newString: '' })).rejects.toMatchObject(
      saying('edit_not_found', 'Read the file again'),
    );
    expect(await s.bytes()).toEqual(Buffer.from(content));
  });

  it('refuses an empty oldString and one that equals newString; nothing changes [FS-8] [field B17]', async () => {
    await using s = await setup();
    await s.put('keep\n');
    await s.put('', 'empty');
    for (const name of ['f', 'empty', 'missing']) {
      await expect(s.edit({ oldString: '', newString: 'x' }, name)).rejects.toMatchObject(
        saying('invalid_arguments', 'write'),
      );
    }
    await expect(s.edit({ oldString: 'keep', newString: 'keep' })).rejects.toMatchObject(
      saying('invalid_arguments', 'nothing to change'),
    );
    await s.put('a\r\nb\r\n', 'crlf');
    await expect(s.edit({ oldString: 'a\nb', newString: 'a\r\nb' }, 'crlf')).rejects.toMatchObject(
      saying('invalid_arguments', 'nothing to change'),
    );
    expect([String(await s.bytes()), (await readdir(s.path)).toSorted()]).toEqual([
      'keep\n',
      ['crlf', 'empty', 'f'],
    ]);
  });

  it('refuses a file that is no text, byte for byte as it was [FS-8] [field A4]', async () => {
    await using s = await setup();
    const gbk = Buffer.concat([Buffer.from('name = '), Buffer.from('c4e3bac3', 'hex'), Buffer.from('\n')]);
    await s.put(gbk);
    await expect(s.edit({ oldString: 'name', newString: 'title' })).rejects.toMatchObject(
      saying('not_supported', 'not valid UTF-8 at byte 7'),
    );
    expect(await s.bytes()).toEqual(gbk);
    await s.put('a\0b');
    await expect(s.edit({ oldString: 'a', newString: 'b' })).rejects.toMatchObject(
      saying('not_supported', 'NUL at byte 1'),
    );
    await expect(s.edit({ oldString: 'a', newString: '\udc00' })).rejects.toMatchObject(
      saying('invalid_arguments', 'newString'),
    );
    await expect(s.edit({ oldString: 'a', newString: 'b' }, 'missing')).rejects.toMatchObject(
      saying('not_found', 'write'),
    );
  });

  it('tells nothing of the content before the call is permitted', async () => {
    await using s = await setup();
    await s.put('SECRET=1\nSECRET=2\n');
    for (const oldString of ['SECRET', 'SECRET=3', 'SECRET=1']) {
      const args = { filePath: 'f', oldString, newString: 'x' };
      const { permission } = await prepareCall(s.tool, args, contextIn(s.path));
      expect(permission).toEqual({ action: 'write', label: 'f' });
    }
  });

  it('refuses an edit that memory could not hold [FS-8]', async () => {
    await using s = await setup();
    await s.put('a'.repeat(1_000_001));
    const everywhere = { oldString: 'a', replaceAll: true };
    await expect(s.edit({ ...everywhere, newString: 'b' })).rejects.toMatchObject(
      saying('resource_limit', 'more than 1000000'),
    );
    await s.put('a'.repeat(900_000));
    await expect(s.edit({ ...everywhere, newString: 'b'.repeat(900) })).rejects.toMatchObject(
      saying('resource_limit', 'grow'),
    );
    expect((await stat(join(s.path, 'f'))).size).toBe(900_000);
  });

  it('keeps mode and link, and says that a hard link was broken [FS-8] [field B4] [field B6]', async () => {
    await using s = await setup();
    await s.put('#!/bin/sh\necho x\n');
    await chmod(join(s.path, 'f'), 0o755);
    await link(join(s.path, 'f'), join(s.path, 'g'));
    await symlink('f', join(s.path, 'link'));
    expect(textOf(await s.edit({ oldString: 'echo x', newString: 'echo y' }, 'link'))).toContain(
      'Its hard link was broken',
    );
    expect((await stat(join(s.path, 'f'))).mode & 0o777).toBe(0o755);
    expect([String(await s.bytes('link')), String(await s.bytes('g'))]).toEqual([
      '#!/bin/sh\necho y\n',
      '#!/bin/sh\necho x\n',
    ]);
  });

  it('tells a model that siblings do not see its effect [ARG-6]', async () => {
    await using s = await setup();
    expect(s.tool.spec.description).toContain(
      "Calls of one turn do not see each other's effects and must not depend on them",
    );
    expect(s.tool.spec).toMatchObject({ action: 'write', concurrency: 'parallel', truncation: 'bounded' });
  });
});

describe('edits of one turn', () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, i) => `${i + 1}\n`).join('');

  it.each([
    [2, [50, 75]],
    [6, [3, 20, 50, 51, 75, 100]],
  ])('all %d land, a hundred times [FS-15] [field B13]', async (_count, places) => {
    await using s = await setup(FAST_PARENT);
    const before = lines(100);
    const after = places.reduce((text, n) => text.replace(`\n${n}\n`, `\nplace ${n} has moved\n`), before);
    for (let round = 0; round < 100; round++) {
      await s.put(before);
      const calls = places.map((n) => ({
        tool: s.tool,
        args: { filePath: 'f', oldString: `\n${n}\n`, newString: `\nplace ${n} has moved\n` },
      }));
      // Neighbours share a line end when both ends are part of the text, so theirs is only the number.
      if (places.includes(51))
        calls[3] = {
          tool: s.tool,
          args: { filePath: 'f', oldString: '51', newString: 'place 51 has moved' },
        };
      const results = await runTurn(round % 2 === 0 ? calls : calls.toReversed(), s.path);
      expect(results.map(({ status }) => status)).toEqual(calls.map(() => 'fulfilled'));
      expect(String(await s.bytes())).toBe(after);
    }
  });

  it('lands under another name of the same file, and with replaceAll [FS-15] [FS-10]', async () => {
    await using s = await setup();
    await s.put('a b a c');
    await symlink('f', join(s.path, 'link'));
    const results = await runTurn(
      [
        { tool: s.tool, args: { filePath: 'f', oldString: 'a', newString: 'long', replaceAll: true } },
        { tool: s.tool, args: { filePath: 'link', oldString: 'c', newString: 'C' } },
        { tool: s.tool, args: { filePath: './x/../f', oldString: 'b', newString: '' } },
      ],
      s.path,
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(String(await s.bytes())).toBe('long  long C');
  });

  it('is stale where places overlap; the rest land [FS-15]', async () => {
    await using s = await setup();
    await s.put('one two three');
    const results = await runTurn(
      [
        { oldString: 'one two', newString: '1 2' },
        { oldString: 'two three', newString: '2 3' },
        { oldString: 'three', newString: '3' },
      ].map((edit) => ({ tool: s.tool, args: { filePath: 'f', ...edit } })),
      s.path,
    );
    expect(results).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: saying('stale', 'earlier edit of this turn') },
      { status: 'fulfilled' },
    ]);
    expect(String(await s.bytes())).toBe('1 2 3');
  });

  it('is stale after a write of the turn, and a write is after an edit [FS-15] [SCH-5]', async () => {
    await using s = await setup();
    const edit = { tool: s.tool, args: { filePath: 'f', oldString: 'b', newString: 'B' } };
    const write = (content: string) => ({ tool: s.write, args: { filePath: 'f', content } });
    for (const content of ['a b c', 'new b']) {
      await s.put('a b c');
      const results = await runTurn([write(content), edit, write('other')], s.path);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(results.slice(1)).toMatchObject([{ reason: { code: 'stale' } }, { reason: { code: 'stale' } }]);
      expect(String(await s.bytes())).toBe(content);
    }
    await s.put('a b c');
    expect((await runTurn([edit, write('x')], s.path)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
    ]);
    expect(String(await s.bytes())).toBe('a B c');
  });

  it('is stale when anybody else changes the bytes between two of them [FS-15]', async () => {
    await using s = await setup();
    for (const foreign of ['a B c d', 'a b c']) {
      await s.put('a b c');
      const context = contextIn(s.path);
      const first = await prepareCall(s.tool, { filePath: 'f', oldString: 'b', newString: 'B' }, context);
      const second = await prepareCall(s.tool, { filePath: 'f', oldString: 'c', newString: 'C' }, context);
      await finishCall(first);
      await s.put(foreign);
      await expect(second.revalidate?.(new AbortController().signal)).rejects.toMatchObject({
        code: 'stale',
      });
      await expect(finishCall({ ...second, revalidate: async () => {} })).rejects.toMatchObject({
        code: 'stale',
      });
      expect(String(await s.bytes())).toBe(foreign);
    }
  });

  it('land where they belong after one that puts a byte-order mark in front [FS-15]', async () => {
    await using s = await setup();
    for (const encoding of ['utf-8', 'utf-16le'] as const) {
      await writeFile(join(s.path, 'f'), encodeText('a b c', encoding));
      const results = await runTurn(
        [
          { tool: s.tool, args: { filePath: 'f', oldString: 'a', newString: '\ufeffA\u6d4b' } },
          { tool: s.tool, args: { filePath: 'f', oldString: 'b', newString: '\u{1f600}' } },
          { tool: s.tool, args: { filePath: 'f', oldString: 'c', newString: 'C' } },
        ],
        s.path,
      );
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
      expect(await s.bytes()).toEqual(encodeText('\ufeffA\u6d4b \u{1f600} C', encoding));
    }
  });

  it('work on what was revalidated, and are stale when it changed since [FS-9]', async () => {
    await using s = await setup();
    const args = { filePath: 'f', oldString: 'a', newString: 'A' };
    for (const foreign of ['a c', 'a b c']) {
      await s.put('a b');
      const call = await prepareCall(s.tool, args, contextIn(s.path));
      await call.revalidate?.(new AbortController().signal);
      await s.put(foreign);
      await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
        code: 'stale',
      });
      expect([String(await s.bytes()), await readdir(s.path)]).toEqual([foreign, ['f']]);
    }
  });

  it('of two turns on one file, the second to publish is stale [FS-9]', async () => {
    await using s = await setup();
    await s.put('a b');
    const first = await prepareCall(
      s.tool,
      { filePath: 'f', oldString: 'a', newString: 'A' },
      contextIn(s.path),
    );
    const second = await prepareCall(
      s.tool,
      { filePath: 'f', oldString: 'b', newString: 'B' },
      contextIn(s.path),
    );
    await finishCall(first);
    await expect(finishCall(second)).rejects.toMatchObject({ code: 'stale' });
    expect(String(await s.bytes())).toBe('A b');
  });
});
