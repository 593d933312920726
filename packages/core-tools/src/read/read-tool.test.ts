import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { toolError, type ArtifactPageRequest, type ArtifactReader } from '@agentd/contract';
import { callTool, contextIn, finishCall, prepareCall, scratchFolder, textOf } from '../testing/calls.ts';
import { createReadTool } from './read-tool.ts';

async function setup(artifacts: ArtifactReader | null = null) {
  const folder = await scratchFolder();
  const { path } = folder;
  const tool = createReadTool({ artifacts, home: path });
  const read = (args: object) => callTool(tool, args, contextIn(path));
  const file = async (name: string, content: string | Uint8Array) => {
    await writeFile(join(path, name), content);
    return name;
  };
  return { path, tool, read, file, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const makeFifo = (path: string) => execFileSync('bash', ['-c', 'mkfifo "$1"', 'bash', path]);
const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `l${i + 1}\n`).join('');
/** The numbered lines of a page, without their numbers. */
const linesIn = (page: string): string[] =>
  page.split('\n').flatMap((line) => /^\d+: (.*)$/s.exec(line)?.[1] ?? []);
const refused = (code: string, ...texts: string[]) => ({
  code,
  message: expect.stringMatching(new RegExp(texts.map((text) => `(?=[\\s\\S]*${text})`).join(''))),
});

describe('read, text pages', () => {
  it('frames the page with path and type and numbers the lines from one [FS-2]', async () => {
    await using s = await setup();
    const result = await s.read({ filePath: await s.file('a.txt', 'one\r\ntwo\nthree') });
    expect(textOf(result)).toBe(
      `<path>${join(s.path, 'a.txt')}</path>\n<type>file</type>\n<content>\n1: one\n2: two\n3: three\n</content>`,
    );
    expect(result.metadata).toEqual({
      kind: 'text',
      offset: 0,
      limit: 2000,
      total_lines: 3,
      line_ending: 'mixed',
    });
  });

  it('gives 2,000 lines by default, says where the rest starts, and honours a larger limit [FS-1]', async () => {
    await using s = await setup();
    const filePath = await s.file('long.txt', numbered(5000));
    const first = await s.read({ filePath });
    expect(linesIn(textOf(first))).toHaveLength(2000);
    expect(first.metadata).toMatchObject({ next_offset: 2000, total_lines: 5000, line_ending: 'lf' });
    const rest = await s.read({ filePath, offset: 2000, limit: 3000 });
    expect(linesIn(textOf(rest))).toEqual(Array.from({ length: 3000 }, (_, i) => `l${i + 2001}`));
    expect(rest.metadata).not.toHaveProperty('next_offset');
  });

  it.each([
    [{ limit: 0 }],
    [{ limit: -1 }],
    [{ offset: -1 }],
    [{ limit: '5' }],
    [{ limit: 1.5 }],
    [{ lines: 3 }],
  ])('rejects %j before anything is opened [FS-1] [ARG-2]', async (bad) => {
    await using s = await setup();
    await expect(s.read({ filePath: 'missing', ...bad })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('names the ends of lines by what the file has [FS-2]', async () => {
    await using s = await setup();
    const ending = async (text: string) => (await s.read({ filePath: await s.file('e', text) })).metadata;
    expect(await ending('a\r\nb\r\n')).toMatchObject({ line_ending: 'crlf' });
    expect(await ending('a\nb\r\n')).toMatchObject({ line_ending: 'mixed' });
    expect(await ending('a\nb\rc')).toMatchObject({ line_ending: 'lf' });
    expect(await ending('a')).not.toHaveProperty('line_ending');
  });

  it.each([
    ['CJK', '\u6d4b'],
    ['emoji', '\u{1f600}'],
  ])('keeps %s characters whole wherever a chunk ends [field A1]', async (_name, character) => {
    await using s = await setup();
    for (const lead of ['', 'a', 'ab', 'abc']) {
      const text = lead + character.repeat(30_000);
      const page = textOf(await s.read({ filePath: await s.file('wide.txt', `${text}\n`) }));
      expect(linesIn(page)).toEqual([text]);
    }
  });

  it('reads UTF-16 by its byte-order mark and names the encoding [FS-4] [field A2]', async () => {
    await using s = await setup();
    const little = await s.read({ filePath: await s.file('le', Buffer.from('fffe680069000a00', 'hex')) });
    const big = await s.read({ filePath: await s.file('be', Buffer.from('feff00680069000a', 'hex')) });
    expect([little, big].map(textOf).map(linesIn)).toEqual([['hi'], ['hi']]);
    expect([little.metadata, big.metadata]).toMatchObject([
      { encoding: 'utf-16le' },
      { encoding: 'utf-16be' },
    ]);
  });

  it('drops the mark of UTF-8 from the page and says so [FS-4]', async () => {
    await using s = await setup();
    const result = await s.read({ filePath: await s.file('b', '\ufeffhello\n') });
    expect(linesIn(textOf(result))).toEqual(['hello']);
    expect(result.metadata).toMatchObject({ encoding: 'utf-8-bom' });
  });

  it('refuses bytes that are no UTF-8 and says where [FS-4] [field A4]', async () => {
    await using s = await setup();
    const gbk = await s.file('gbk.txt', Buffer.from('c4e3bac30a', 'hex'));
    await expect(s.read({ filePath: gbk })).rejects.toMatchObject(
      refused('not_supported', 'not valid UTF-8 at byte 0', '5 bytes', 'bash'),
    );
    const late = await s.file(
      'late.txt',
      Buffer.concat([Buffer.from('x'.repeat(70_000)), Buffer.from([0xe6, 0xb5])]),
    );
    await expect(s.read({ filePath: late })).rejects.toMatchObject(
      refused('not_supported', 'not valid UTF-8 at byte 70000'),
    );
  });

  it('refuses an archive by its type and size [FS-4] [field A5]', async () => {
    await using s = await setup();
    const zip = Buffer.concat([Buffer.from('PK\x03\x04\x14\x00\x00\x00', 'latin1'), Buffer.alloc(300, 0x9d)]);
    const refusal = s.read({ filePath: await s.file('t.ods', zip) });
    await expect(refusal).rejects.toMatchObject(refused('not_supported', 'application/zip', '308 bytes'));
  });

  it.each([
    ['image/png', '\x89PNG\r\n\x1a\n\x00\x00'],
    ['image/gif', 'GIF89a\x01\x00\xff'],
    ['image/webp', 'RIFF\x01\x00\x00\x00WEBPVP8 '],
    ['audio/wav', 'RIFF\x01\x00\x00\x00WAVEfmt '],
    ['application/pdf', '%PDF-1.4\nplain ASCII\n%%EOF\n'],
    ['video/mp4', '\x00\x00\x00\x18ftypmp42'],
    ['application/octet-stream', 'abc\x00def'],
  ])('names %s by its content, not by its name [FS-4]', async (type, bytes) => {
    await using s = await setup();
    const filePath = await s.file('readme.txt', Buffer.from(bytes, 'latin1'));
    await expect(s.read({ filePath })).rejects.toMatchObject(
      refused('not_supported', type, `${bytes.length} bytes`),
    );
  });

  it('gives text that merely begins like a binary format as text [FS-4]', async () => {
    await using s = await setup();
    for (const text of ['MZ is a header', 'PK: a column', 'GIF89a explained', 'ID3 tags', 'BZh']) {
      expect(linesIn(textOf(await s.read({ filePath: await s.file('t', text) })))).toEqual([text]);
    }
  });

  it('gives one enormous line whole, and beyond 2 MiB says how to look at a part [OUT-20] [field A21]', async () => {
    await using s = await setup();
    const whole = await s.read({ filePath: await s.file('one.txt', 'x'.repeat(1_700_000)) });
    expect(linesIn(textOf(whole))[0]).toHaveLength(1_700_000);
    const tooLong = await s.file('big.txt', `short\n${'x'.repeat(2 * 1024 * 1024)}\n`);
    await expect(s.read({ filePath: tooLong })).rejects.toMatchObject(
      refused('resource_limit', 'smaller limit, at most 1$'),
    );
    await expect(s.read({ filePath: tooLong, offset: 1 })).rejects.toMatchObject(
      refused('resource_limit', "sed -n '2p'", 'cut -c'),
    );
  });

  it('asks for the limit that fits when a page of many lines is over 2 MiB [OUT-20]', async () => {
    await using s = await setup();
    const filePath = await s.file('many.txt', `${'y'.repeat(9_999)}\n`.repeat(400));
    const limit = await s.read({ filePath }).then(
      () => 0,
      (error: Error) => Number(/at most (\d+)$/.exec(error.message)?.[1]),
    );
    expect(limit).toBeGreaterThan(200);
    expect(Buffer.byteLength(textOf(await s.read({ filePath, limit })))).toBeLessThanOrEqual(2 * 1024 * 1024);
    await expect(s.read({ filePath, limit: limit + 1 })).rejects.toMatchObject({ code: 'resource_limit' });
  });

  it('gives a page far over the preview limits whole [OUT-17] [field E11]', async () => {
    await using s = await setup();
    const lines = Array.from({ length: 1990 }, (_, i) => `${i}`.padEnd(40, '.'));
    const result = await s.read({ filePath: await s.file('wide.txt', `${lines.join('\n')}\n`) });
    expect(linesIn(textOf(result))).toEqual(lines);
    expect(s.tool.spec).toMatchObject({ truncation: 'opt_out', concurrency: 'parallel', action: 'read' });
    expect(result.metadata).not.toHaveProperty('truncated');
  });

  it('refuses an offset at or past the end with the number of lines; an empty file is an empty page [FS-4] [field A22]', async () => {
    await using s = await setup();
    const five = await s.file('five', numbered(5));
    await expect(s.read({ filePath: five, offset: 100 })).rejects.toMatchObject(
      refused('invalid_arguments', '5 lines'),
    );
    await expect(s.read({ filePath: five, offset: 5 })).rejects.toMatchObject(
      refused('invalid_arguments', '5 lines'),
    );
    const empty = await s.file('empty', '');
    expect(textOf(await s.read({ filePath: empty }))).toMatch(/<content>\n<\/content>\nempty, 0 bytes$/);
    await expect(s.read({ filePath: empty, offset: 1 })).rejects.toMatchObject(
      refused('invalid_arguments', '0 lines'),
    );
    const one = await s.file('one', 'only');
    expect(linesIn(textOf(await s.read({ filePath: one })))).toEqual(['only']);
    for (const offset of [1, 2]) {
      await expect(s.read({ filePath: one, offset })).rejects.toMatchObject(
        refused('invalid_arguments', '1 line;'),
      );
    }
  });

  it('holds a page of a large file in little memory', async () => {
    await using s = await setup();
    const filePath = await s.file('large.log', `${'z'.repeat(99)}\n`.repeat(1_500_000));
    const before = process.memoryUsage();
    let most = 0;
    const sampler = setInterval(() => {
      const { arrayBuffers } = process.memoryUsage();
      most = Math.max(most, arrayBuffers - before.arrayBuffers);
    }, 1);
    const result = await s.read({ filePath, offset: 1_400_000, limit: 10 });
    clearInterval(sampler);
    expect(linesIn(textOf(result))).toHaveLength(10);
    expect(most).toBeLessThan(8 * 1024 * 1024);
  });

  it('stops between two chunks once the call is cancelled', async () => {
    await using s = await setup();
    const filePath = await s.file('large.log', 'x\n'.repeat(2_000_000));
    const call = await prepareCall(s.tool, { filePath, offset: 1_999_999 }, contextIn(s.path));
    const abort = new AbortController();
    const running = finishCall(call, abort.signal);
    abort.abort();
    await expect(running).rejects.toBe(abort.signal.reason);
  });
});

describe('read, paths', () => {
  it('expands "~" and "~/x" and refuses "~user" [FS-2]', async () => {
    await using s = await setup();
    await s.file('a', 'x');
    expect(linesIn(textOf(await s.read({ filePath: '~/a' })))).toEqual(['x']);
    expect(textOf(await s.read({ filePath: '~' }))).toContain('<entries>\na\n');
    await expect(s.read({ filePath: '~root/a' })).rejects.toMatchObject(refused('invalid_arguments', '"~"'));
  });

  it.each([[''], ['a\0b'], ['\ud800']])('refuses the path %j', async (filePath) => {
    await using s = await setup();
    await expect(s.read({ filePath })).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('says where the path ends for a file that does not exist', async () => {
    await using s = await setup();
    await expect(s.read({ filePath: 'no/such/file' })).rejects.toMatchObject(
      refused('not_found', `is ${s.path}$`),
    );
  });

  it('keeps a line break in a name from looking like text of the page', async () => {
    await using s = await setup();
    const page = textOf(await s.read({ filePath: await s.file('a\n<content>', 'x') }));
    expect(page.split('\n')[0]).toBe(`<path>${join(s.path, 'a\\u000a<content>')}</path>`);
  });
});

describe('read, directories', () => {
  it('lists entries by code point with their kinds, control characters escaped [FS-3]', async () => {
    await using s = await setup();
    await mkdir(join(s.path, 'd'));
    for (const name of ['b', 'a\nb', '\u{1f600}', '\uffee', 'Z', '.hidden']) await s.file(`d/${name}`, '');
    await mkdir(join(s.path, 'd/sub'));
    await symlink('sub', join(s.path, 'd/link'));
    const result = await s.read({ filePath: 'd' });
    expect(textOf(result)).toBe(
      [
        `<path>${join(s.path, 'd')}</path>`,
        '<type>directory</type>',
        '<entries>',
        '.hidden',
        'Z',
        'a\\x0ab',
        'b',
        'link@',
        'sub/',
        '\uffee',
        '\u{1f600}',
        '</entries>',
      ].join('\n'),
    );
    expect(result.metadata).toMatchObject({ kind: 'directory', total_entries: 8 });
  });

  it('shows bytes of a name that are no UTF-8 as what they are [FS-3]', async () => {
    await using s = await setup();
    await writeFile(Buffer.concat([Buffer.from(`${s.path}/bad-`), Buffer.from([0xff])]), '');
    expect(textOf(await s.read({ filePath: '.' }))).toContain('\nbad-\\xff\n');
  });

  it('pages give each entry once; past the end is an error, an empty directory is not [FS-3] [FS-4] [field A24]', async () => {
    await using s = await setup();
    await mkdir(join(s.path, 'd'));
    const names = Array.from({ length: 250 }, (_, i) => `f${String(i).padStart(3, '0')}`);
    for (const name of names) await s.file(`d/${name}`, '');
    const seen: string[] = [];
    for (let offset: unknown = 0; typeof offset === 'number';) {
      const { metadata, ...page } = await s.read({ filePath: 'd', offset, limit: 100 });
      seen.push(...textOf(page).split('\n').slice(3, -1));
      offset = metadata?.['next_offset'];
    }
    expect(seen).toEqual(names);
    await expect(s.read({ filePath: 'd', offset: 1000 })).rejects.toMatchObject(
      refused('invalid_arguments', '250 entries'),
    );
    await mkdir(join(s.path, 'empty'));
    expect(textOf(await s.read({ filePath: 'empty' }))).toMatch(/<entries>\n<\/entries>$/);
    await expect(s.read({ filePath: 'empty', offset: 1 })).rejects.toMatchObject(
      refused('invalid_arguments', '0 entries'),
    );
  });
});

describe('read, special files', () => {
  it.each([['/dev/zero'], ['/dev/full'], ['/dev/tty']])(
    'refuses %s at once [FS-5] [field A18]',
    async (filePath) => {
      await using s = await setup();
      await expect(s.read({ filePath })).rejects.toMatchObject(refused('not_supported', 'character device'));
    },
  );

  it('refuses a FIFO and a socket without waiting for the other side [FS-5] [field A18]', async () => {
    await using s = await setup();
    makeFifo(join(s.path, 'p'));
    await expect(s.read({ filePath: 'p' })).rejects.toMatchObject(refused('not_supported', 'FIFO'));
    const server = createServer().listen(join(s.path, 'sock'));
    await once(server, 'listening');
    try {
      await expect(s.read({ filePath: 'sock' })).rejects.toMatchObject(refused('not_supported', 'socket'));
    } finally {
      server.close();
    }
  });

  it('does not block on a FIFO that takes the place of the file after preparation [FS-5] [FS-6]', async () => {
    await using s = await setup();
    const call = await prepareCall(s.tool, { filePath: await s.file('f', 'x') }, contextIn(s.path));
    await rm(join(s.path, 'f'));
    makeFifo(join(s.path, 'f'));
    const context = { callId: 'c', report: async () => {}, stdin: null };
    await expect(call.execute(context, new AbortController().signal)).rejects.toMatchObject({
      code: 'stale',
    });
  });

  const linuxIt = process.platform === 'linux' ? it : it.skip;
  linuxIt('reads a file whose size says 0 to its end [FS-5] [field A18]', async () => {
    await using s = await setup();
    expect(linesIn(textOf(await s.read({ filePath: '/proc/cpuinfo' }))).length).toBeGreaterThan(2);
    expect(linesIn(textOf(await s.read({ filePath: '/proc/self/status' })))[0]).toMatch(/^Name:/);
  });
});

describe('read, between approval and execution', () => {
  it('is stale when another file took the place, whatever its content [FS-6]', async () => {
    await using s = await setup();
    const call = await prepareCall(s.tool, { filePath: await s.file('a', 'same') }, contextIn(s.path));
    await rename(join(s.path, await s.file('b', 'same')), join(s.path, 'a'));
    await expect(call.revalidate?.(new AbortController().signal)).rejects.toMatchObject({ code: 'stale' });
    await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
      code: 'stale',
    });
  });

  it('is stale when a link on the way leads elsewhere now [FS-6]', async () => {
    await using s = await setup();
    await mkdir(join(s.path, 'one'));
    await mkdir(join(s.path, 'two'));
    await s.file('one/f', 'one');
    await s.file('two/f', 'two');
    await symlink('one', join(s.path, 'link'));
    const call = await prepareCall(s.tool, { filePath: 'link/f' }, contextIn(s.path));
    await rm(join(s.path, 'link'));
    await symlink('two', join(s.path, 'link'));
    await expect(finishCall(call)).rejects.toMatchObject({ code: 'stale' });
  });

  it('never follows a folder exchanged for a link after revalidation [FS-6]', async () => {
    await using s = await setup();
    await mkdir(join(s.path, 'd'));
    await mkdir(join(s.path, 'secret'));
    await s.file('d/f', 'public');
    await s.file('secret/f', 'private');
    for (const filePath of ['d/f', 'd']) {
      const call = await prepareCall(s.tool, { filePath }, contextIn(s.path));
      await rename(join(s.path, 'd'), join(s.path, 'away'));
      await symlink('secret', join(s.path, 'd'));
      await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
        code: 'stale',
      });
      await rm(join(s.path, 'd'));
      await rename(join(s.path, 'away'), join(s.path, 'd'));
    }
  });

  it('takes bytes that were changed in place: they are the same file [FS-6]', async () => {
    await using s = await setup();
    const call = await prepareCall(s.tool, { filePath: await s.file('a', 'old') }, contextIn(s.path));
    await s.file('a', 'new');
    expect(linesIn(textOf(await finishCall(call)))).toEqual(['new']);
  });

  it('binds the window and the identity of the target [FS-6]', async () => {
    await using s = await setup();
    const { operation } = await prepareCall(
      s.tool,
      { filePath: await s.file('a', 'x'), limit: 3 },
      contextIn(s.path),
    );
    expect(operation).toMatchObject({ tool: 'read', path: join(s.path, 'a'), offset: 0, limit: 3 });
    expect(operation).toMatchObject({ target: { kind: 'file', ino: expect.stringMatching(/^\d+$/) } });
  });
});

describe('read, artifacts', () => {
  const digest = 'a'.repeat(64);

  /** An artifact reader that only knows one digest, and notes what it is asked. */
  function oneArtifact() {
    const asked: ArtifactPageRequest[] = [];
    const artifacts: ArtifactReader = {
      parse: (uri) => {
        if (uri !== `artifact://${digest}/stdout`) throw toolError('artifact_uri', `${uri} is malformed`);
        return { digest, stream: 'stdout' };
      },
      page: async (request) => {
        asked.push(request);
        return { text: 'raw\r\ntext', nextOffset: request.offset === 0 ? 2 : null };
      },
    };
    return { asked, artifacts };
  }

  it('hands the page on without a wrapper, with next_offset only where more remains [ART-4]', async () => {
    const { asked, artifacts } = oneArtifact();
    await using s = await setup(artifacts);
    const first = await s.read({ filePath: `artifact://${digest}/stdout` });
    expect([textOf(first), first.metadata]).toEqual([
      'raw\r\ntext',
      { kind: 'artifact', offset: 0, next_offset: 2 },
    ]);
    const last = await s.read({ filePath: `artifact://${digest}/stdout`, offset: 2, limit: 5 });
    expect(last.metadata).toEqual({ kind: 'artifact', offset: 2 });
    expect(asked).toEqual([
      { address: { digest, stream: 'stdout' }, offset: 0, limit: 2000 },
      { address: { digest, stream: 'stdout' }, offset: 2, limit: 5 },
    ]);
    await expect(s.read({ filePath: `artifact://${digest}/stdout`, limit: 0 })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('asks for the URI itself, never for a path [ART-8] [PERM-10]', async () => {
    await using s = await setup(oneArtifact().artifacts);
    const filePath = `artifact://${digest}/stdout`;
    const { permission, operation, serializationKey } = await prepareCall(
      s.tool,
      { filePath },
      contextIn('/no/such/cwd'),
    );
    expect(permission).toEqual({ action: 'read', label: filePath });
    expect(operation).toEqual({ tool: 'read', artifact: filePath, offset: 0, limit: 2000 });
    expect(serializationKey).toBeUndefined();
  });

  it.each([['artifact://../a'], ['artifact://a'], ['ARTIFACT://a'], ['artifact://']])(
    'never takes %s for a file, although one is there [ART-5]',
    async (filePath) => {
      await using s = await setup(oneArtifact().artifacts);
      await mkdir(join(s.path, 'artifact:'));
      await s.file('artifact:/a', 'a file');
      await s.file('a', 'a file');
      await expect(s.read({ filePath })).rejects.toMatchObject({ code: 'artifact_uri' });
      expect(linesIn(textOf(await s.read({ filePath: './artifact:/a' })))).toEqual(['a file']);
    },
  );

  it('says so where no output is retained [ART-5]', async () => {
    await using s = await setup(null);
    await expect(s.read({ filePath: `artifact://${digest}` })).rejects.toMatchObject({
      code: 'not_supported',
    });
  });
});
