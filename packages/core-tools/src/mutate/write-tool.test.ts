import { describe, expect, it } from '@jest/globals';
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import {
  callTool,
  contextIn,
  finishCall,
  prepareCall,
  runTurn,
  scratchFolder,
  textOf,
} from '../testing/calls.ts';
import { createReadTool } from '../read/read-tool.ts';
import { createWriteTool } from './write-tool.ts';

async function setup() {
  const folder = await scratchFolder();
  const { path } = folder;
  const tool = createWriteTool({ stages: null, home: path });
  return {
    path,
    tool,
    at: (name: string) => join(path, name),
    bytes: (name: string) => readFile(join(path, name)),
    text: (name: string) => readFile(join(path, name), 'utf8'),
    put: (name: string, content: string) => writeFile(join(path, name), content),
    write: (filePath: string, content: string) => callTool(tool, { filePath, content }, contextIn(path)),
    prepare: (filePath: string, content: string) => prepareCall(tool, { filePath, content }, contextIn(path)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('write', () => {
  it('creates a file with exactly the content and says so in one line [FS-7] [FS-13]', async () => {
    await using s = await setup();
    const result = await s.write('a.txt', 'x\n');
    expect(await s.text('a.txt')).toBe('x\n');
    expect(textOf(result)).toBe('Created a.txt (2 bytes).');
    expect(result.metadata).toMatchObject({ path: s.at('a.txt'), bytes: 2, change: 'created' });
    expect(result.metadata?.['diff']).toContain('\n+x\n');
    expect(await readdir(s.path)).toEqual(['a.txt']);
  });

  it('replaces all of a file and shows the difference [FS-7] [FS-13]', async () => {
    await using s = await setup();
    await s.put('a.txt', 'one\ntwo\n');
    const result = await s.write('a.txt', 'one\n2\n');
    expect(await s.text('a.txt')).toBe('one\n2\n');
    expect(textOf(result)).toBe('Replaced a.txt (6 bytes).');
    expect(result.metadata).toMatchObject({ change: 'replaced', diff_truncated: false });
    expect(result.metadata?.['diff']).toContain('-two\n+2\n');
    expect(await readdir(s.path)).toEqual(['a.txt']);
  });

  it.each([
    ['print("a\\nb")\n'],
    ['\\t \\u0041 \\\\ $& $1'],
    ['a\r\nb\nc'],
    ['\ufeffmarked'],
    ['\u2018%s\u2019 \u2014 \u{1f600}\0'],
    [''],
  ])('writes %j byte for byte [FS-8] [field B20]', async (content) => {
    await using s = await setup();
    for (const change of ['created', 'replaced']) {
      expect((await s.write('f', content)).metadata).toMatchObject({ change });
      expect(await s.bytes('f')).toEqual(Buffer.from(content));
    }
  });

  it('refuses half of a surrogate pair instead of storing something else [FS-8]', async () => {
    await using s = await setup();
    await expect(s.write('f', 'a\ud800b')).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(await readdir(s.path)).toEqual([]);
  });

  it('makes the folders of a new file, and nothing before it is executed [FS-8] [FS-9]', async () => {
    await using s = await setup();
    const call = await s.prepare('a/b/c/f.txt', 'x');
    expect(await readdir(s.path)).toEqual([]);
    expect(textOf(await finishCall(call))).toBe('Created a/b/c/f.txt (1 bytes).');
    expect(await s.text('a/b/c/f.txt')).toBe('x');
    expect(await readdir(s.path, { recursive: true })).toEqual(['a', 'a/b', 'a/b/c', 'a/b/c/f.txt']);
  });

  it('lets siblings of one turn make files below the same new folder [FS-9]', async () => {
    await using s = await setup();
    for (let round = 0; round < 20; round++) {
      const calls = ['a/x', 'a/y', 'a/b/z', 'a/b/c/w', 'a/b/v'].map((name) => ({
        tool: s.tool,
        args: { filePath: `r${round}/${name}`, content: name },
      }));
      const results = await runTurn(calls, s.path);
      expect(results.map(({ status }) => status)).toEqual(calls.map(() => 'fulfilled'));
      expect(await s.text(`r${round}/a/b/c/w`)).toBe('a/b/c/w');
    }
    expect((await readdir(s.path, { recursive: true })).filter((name) => name.includes('stage'))).toEqual([]);
  });

  it.each([[0o755], [0o600], [0o640], [0o4755]])(
    'keeps the mode %o of a replaced file [FS-8] [field B4]',
    async (mode) => {
      await using s = await setup();
      await s.put('s.sh', 'old');
      await chmod(s.at('s.sh'), mode);
      await s.write('s.sh', 'new');
      expect((await stat(s.at('s.sh'))).mode & 0o7777).toBe(mode);
    },
  );

  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  asRoot('keeps the owner where permitted [FS-8]', async () => {
    await using s = await setup();
    await s.put('f', 'old');
    await chown(s.at('f'), 1234, 4321);
    await s.write('f', 'new');
    expect(await stat(s.at('f'))).toMatchObject({ uid: 1234, gid: 4321 });
  });

  it('writes the target of a link and keeps the link, also where the target is still missing [FS-8]', async () => {
    await using s = await setup();
    await mkdir(s.at('real'));
    await s.put('real/f', 'old');
    await symlink('real/f', s.at('link'));
    await symlink('real/new', s.at('dangling'));
    await s.write('link', 'new');
    await s.write('dangling', 'made');
    expect([await readlink(s.at('link')), await readlink(s.at('dangling'))]).toEqual(['real/f', 'real/new']);
    expect([await s.text('real/f'), await s.text('real/new')]).toEqual(['new', 'made']);
  });

  it('says that a hard link was broken [FS-8] [field B6]', async () => {
    await using s = await setup();
    await s.put('a', 'n');
    await link(s.at('a'), s.at('b'));
    expect(textOf(await s.write('a', 'm'))).toBe(
      'Replaced a (1 bytes). Its hard link was broken: 1 other name keeps the old content.',
    );
    expect([await s.text('a'), await s.text('b')]).toEqual(['m', 'n']);
  });

  it('refuses what is no file, and a name that can only be a folder [FS-8] [field B22]', async () => {
    await using s = await setup();
    await mkdir(s.at('d'));
    await s.put('f', 'keep');
    await expect(s.write('d', 'x')).rejects.toMatchObject({
      code: 'not_supported',
      message: expect.stringContaining('a directory'),
    });
    await expect(s.write('/dev/full', 'x')).rejects.toMatchObject({ code: 'not_supported' });
    await expect(s.write('new/', 'x')).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(s.write('f/below/x', 'x')).rejects.toMatchObject({
      message: expect.stringContaining('ENOTDIR'),
    });
    await expect(s.write('n'.repeat(300), 'x')).rejects.toMatchObject({
      message: expect.stringContaining('ENAMETOOLONG'),
    });
    expect((await readdir(s.path)).toSorted()).toEqual(['d', 'f']);
    expect(await s.text('f')).toBe('keep');
  });

  const linuxIt = process.platform === 'linux' ? it : it.skip;
  linuxIt('touches only the named file where names differ in case [FS-10] [field B21]', async () => {
    await using s = await setup();
    await s.put('Readme.md', 'one');
    await s.put('README.md', 'two');
    await s.write('README.md', 'changed');
    expect([await s.text('Readme.md'), await s.text('README.md')]).toEqual(['one', 'changed']);
  });

  it('refuses a file that is too large to be watched over, without reading it [FS-9]', async () => {
    await using s = await setup();
    await s.put('f', 'old');
    await truncate(s.at('f'), 5 * 1024 ** 3);
    await expect(s.prepare('f', 'x')).rejects.toMatchObject({
      code: 'resource_limit',
      message: expect.stringContaining('5368709120 bytes'),
    });
  });

  it('refuses a path that no system takes, and one whose folder takes no new files [FS-8]', async () => {
    await using s = await setup();
    await expect(s.prepare(`${'d/'.repeat(2100)}f`, '')).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('over 4095'),
    });
    if (process.platform !== 'linux') return;
    // A file of /proc may be written by its owner and never be replaced.
    await expect(s.write(`/proc/${process.pid}/comm`, 'x')).rejects.toMatchObject({
      code: 'not_supported',
      message: expect.stringContaining('takes no new files'),
    });
  });

  it('tells a model that siblings do not see the file [ARG-6]', async () => {
    await using s = await setup();
    expect(s.tool.spec.description).toContain(
      "Calls of one turn do not see each other's effects and must not depend on them",
    );
    expect(s.tool.spec).toMatchObject({ action: 'write', concurrency: 'parallel', truncation: 'bounded' });
  });

  it('bounds the difference and leaves it out where a side is no text [FS-13]', async () => {
    await using s = await setup();
    await writeFile(s.at('bin'), Buffer.from([0xff, 0]));
    expect((await s.write('bin', 'x')).metadata).toMatchObject({ diff: null });
    await s.put('large', 'a\n'.repeat(20_000));
    const { metadata } = await s.write('large', 'b\n'.repeat(20_000));
    const { diff } = metadata as { diff: string };
    expect(Buffer.byteLength(diff)).toBeLessThanOrEqual(48 * 1024);
    expect(JSON.stringify(metadata).length).toBeLessThan(80 * 1024);
    await s.put('huge', 'a\n'.repeat(600_000));
    expect((await s.write('huge', 'b')).metadata).toMatchObject({ diff: null });
  });
});

describe('write, between approval and execution', () => {
  it('is stale when the bytes changed in place, whatever the time stamps say [FS-9]', async () => {
    await using s = await setup();
    await s.put('f', 'aaaa');
    const { atime, mtime } = await stat(s.at('f'));
    const call = await s.prepare('f', 'mine');
    await s.put('f', 'bbbb');
    await utimes(s.at('f'), atime, mtime);
    await expect(call.revalidate?.(new AbortController().signal)).rejects.toMatchObject({ code: 'stale' });
    await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
      code: 'stale',
    });
    expect([await s.text('f'), await readdir(s.path)]).toEqual(['bbbb', ['f']]);
  });

  it('takes a touched file whose bytes are the same [FS-9]', async () => {
    await using s = await setup();
    await s.put('f', 'aaaa');
    const call = await s.prepare('f', 'mine');
    await utimes(s.at('f'), 1, 1);
    await finishCall(call);
    expect(await s.text('f')).toBe('mine');
  });

  it('is stale when another file with the same bytes took the place, and when the file is gone [FS-9]', async () => {
    await using s = await setup();
    for (const exchange of [
      async () => {
        await s.put('g', 'same');
        await rename(s.at('g'), s.at('f'));
      },
      () => rm(s.at('f')),
    ]) {
      await s.put('f', 'same');
      const call = await s.prepare('f', 'mine');
      await exchange();
      await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
        code: 'stale',
      });
    }
    expect(await readdir(s.path)).toEqual([]);
  });

  it('never replaces a file that appeared where none was [FS-9]', async () => {
    await using s = await setup();
    for (const name of ['f', 'd/f', 'x/y/f']) {
      const call = await s.prepare(name, 'mine');
      await mkdir(join(s.at(name), '..'), { recursive: true });
      await s.put(name, 'theirs');
      await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
        code: 'stale',
      });
      await expect(call.revalidate?.(new AbortController().signal)).rejects.toMatchObject({ code: 'stale' });
      expect(await s.text(name)).toBe('theirs');
    }
    expect((await readdir(s.path, { recursive: true })).filter((name) => name.includes('stage'))).toEqual([]);
  });

  it('never goes through a link that appeared in place of a missing folder [FS-9] [field J12]', async () => {
    await using s = await setup();
    await using out = await scratchFolder();
    const call = await s.prepare('d/f', 'mine');
    await symlink(out.path, s.at('d'));
    await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
      code: 'stale',
    });
    expect(await readdir(out.path)).toEqual([]);
  });

  it('never follows a folder that was exchanged [FS-9] [field J12]', async () => {
    await using s = await setup();
    await using out = await scratchFolder();
    await mkdir(s.at('d'));
    const call = await s.prepare('d/f', 'mine');
    await rename(s.at('d'), s.at('away'));
    await symlink(out.path, s.at('d'));
    await expect(finishCall({ ...call, revalidate: async () => {} })).rejects.toMatchObject({
      code: 'stale',
    });
    expect([await readdir(out.path), await readdir(s.at('away'))]).toEqual([[], []]);
  });

  it('changes nothing and leaves nothing once it is cancelled [FS-9]', async () => {
    await using s = await setup();
    await s.put('f', 'old');
    for (const name of ['f', 'new', 'deep/new']) {
      const call = await s.prepare(name, 'mine');
      const abort = new AbortController();
      const running = finishCall({ ...call, revalidate: async () => abort.abort() }, abort.signal);
      await expect(running).rejects.toBe(abort.signal.reason);
    }
    expect([await s.text('f'), await readdir(s.path)]).toEqual(['old', ['f']]);
  });

  it('lets one of two writes of a turn through, on the same file or the same missing one [FS-15]', async () => {
    await using s = await setup();
    await s.put('old', 'x');
    for (const name of ['old', 'new', 'deep/new']) {
      const results = await runTurn(
        ['first', 'second'].map((content) => ({ tool: s.tool, args: { filePath: name, content } })),
        s.path,
      );
      expect(results).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'stale' } },
      ]);
      expect(await s.text(name)).toBe('first');
    }
  });

  it('shows a sibling read the old or the new file, whole [FS-15]', async () => {
    await using s = await setup();
    const read = createReadTool({ artifacts: null, home: s.path });
    const [before, after] = ['old\n'.repeat(1500), 'new\n'.repeat(1500)];
    for (let round = 0; round < 30; round++) {
      await s.put('f', before);
      const args = { filePath: 'f' };
      const write = { tool: s.tool, args: { ...args, content: after } };
      const results = await runTurn(
        [...Array.from({ length: 4 }, () => ({ tool: read, args })), write, { tool: read, args }],
        s.path,
      );
      const pages = results.flatMap((result) =>
        result.status === 'fulfilled'
          ? [
              textOf(result.value)
                .replaceAll(/^(?!\d+: ).*\n?/gm, '')
                .replaceAll(/^\d+: /gm, ''),
            ]
          : ['failed'],
      );
      expect(pages.filter((page) => page !== before && page !== after && page !== '')).toEqual([]);
      expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
    }
  });

  it('binds what an approval approves: content, path and identity [FS-9]', async () => {
    await using s = await setup();
    await s.put('f', 'old');
    const { operation } = await s.prepare('f', 'new');
    expect(operation).toMatchObject({
      tool: 'write',
      path: s.at('f'),
      bytes: 3,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      target: {
        kind: 'file',
        ino: String((await lstat(s.at('f'))).ino),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect((await s.prepare('no/f', 'new')).operation).toMatchObject({
      target: { kind: 'absent', missing: ['no', 'f'] },
    });
  });
});
