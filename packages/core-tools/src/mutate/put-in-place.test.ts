import { describe, expect, it } from '@jest/globals';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { link, lstat, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scratchFolder } from '../testing/calls.ts';
import { runChild } from '../testing/run-child.ts';
import { sha256Of } from '../target/file-state.ts';
import { identityOf } from '../target/identity.ts';
import { resolveTarget } from '../target/resolve-target.ts';
import { TurnFiles } from '../turn-files.ts';
import { kernelMoves, type KernelMoves } from './kernel-moves.ts';
import { createFile, replaceFile } from './publication.ts';
import type { PublicationStep } from './stage.ts';

const linux = process.platform === 'linux' ? describe : describe.skip;
const { signal } = new AbortController();
/** A file system that can neither exchange nor keep from replacing. */
const unable: KernelMoves = { exchange: () => false, moveToFree: () => false, lock: () => 'unable' };

type Acts = Partial<Record<PublicationStep, (path: string, stage: string) => void>>;

async function setup(moves: Promise<KernelMoves | null> = kernelMoves()) {
  const folder = await scratchFolder();
  const at = (name: string) => join(folder.path, name);
  /** What strangers do at the steps of a publication. */
  const portsWith = (acts: Acts, name: string) => ({
    stages: null,
    turnFiles: new TurnFiles(),
    moves,
    atStep: (step: PublicationStep) => acts[step]?.(at(name), at('stage')),
  });
  const replace = async (acts: Acts = {}) => {
    const identity = identityOf(await lstat(at('f'), { bigint: true }));
    const expected = { identity, sha256: sha256Of(await readFile(at('f'))) };
    const replacement = { path: at('f'), expected, content: Buffer.from('ours') };
    return replaceFile(replacement, portsWith(acts, 'f'), signal);
  };
  const create = async (name: string, acts: Acts = {}) => {
    const target = await resolveTarget(at(name));
    if (target.state === 'existing') throw new Error('it is there');
    return createFile({ target, content: Buffer.from('ours') }, portsWith(acts, name), signal);
  };
  return {
    at,
    replace,
    create,
    text: (name: string) => readFile(at(name), 'utf8'),
    names: async () => (await readdir(at('.'), { recursive: true })).toSorted(),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const stale = { code: 'stale' };

linux('a file that is exchanged for its new self', () => {
  it('is the new one, and the old one is gone [FS-9]', async () => {
    await using s = await setup();
    await writeFile(s.at('f'), 'old');
    const { identity, sha256 } = await s.replace();
    expect([await s.text('f'), sha256]).toEqual(['ours', sha256Of(Buffer.from('ours'))]);
    expect((await lstat(s.at('f'), { bigint: true })).ino).toBe(identity.ino);
    expect(await s.names()).toEqual(['f']);
  });

  it.each<readonly [string, (path: string) => void]>([
    [
      'another file takes its place',
      (path) => {
        writeFileSync(`${path}.tmp`, 'theirs');
        renameSync(`${path}.tmp`, path);
      },
    ],
    [
      'another file with the same bytes takes its place',
      (path) => {
        writeFileSync(`${path}.tmp`, 'old');
        renameSync(`${path}.tmp`, path);
      },
    ],
    ['it is written in place', (path) => writeFileSync(path, 'theirs')],
    [
      'a link takes its place',
      (path) => {
        rmSync(path);
        symlinkSync('/etc/hostname', path);
      },
    ],
    [
      'a folder takes its place',
      (path) => {
        rmSync(path);
        mkdirSync(join(path, 'sub'), { recursive: true });
      },
    ],
  ])('goes back when %s after the last check [FS-9]', async (_what, act) => {
    await using s = await setup();
    await writeFile(s.at('f'), 'old');
    await expect(s.replace({ checked: act })).rejects.toMatchObject(stale);
    // Exactly what the stranger made, and nothing of ours beside it.
    await using other = await setup();
    await writeFile(other.at('f'), 'old');
    act(other.at('f'));
    const look = async ({ text, names }: typeof s) => [
      await text('f').catch((error: { code: string }) => error.code),
      await names(),
    ];
    expect(await look(s)).toEqual(await look(other));
  });

  it('keeps the inode that a stranger wrote in place, with all of its names [FS-9]', async () => {
    await using s = await setup();
    await writeFile(s.at('f'), 'old');
    await link(s.at('f'), s.at('other-name'));
    const { ino } = await lstat(s.at('f'));
    await expect(s.replace({ checked: (path) => writeFileSync(path, 'theirs') })).rejects.toMatchObject(
      stale,
    );
    expect([(await lstat(s.at('f'))).ino, (await lstat(s.at('f'))).nlink]).toEqual([ino, 2]);
    expect([await s.text('f'), await s.text('other-name')]).toEqual(['theirs', 'theirs']);
  });

  it('is stale when it is removed after the last check; nothing is put there [FS-9]', async () => {
    await using s = await setup();
    await writeFile(s.at('f'), 'old');
    await expect(s.replace({ checked: (path) => rmSync(path) })).rejects.toMatchObject(stale);
    expect(await s.names()).toEqual([]);
  });

  it('loses neither of two foreign versions when a third hand writes during the exchange [FS-9]', async () => {
    await using s = await setup();
    await writeFile(s.at('f'), 'old');
    const running = s.replace({
      checked: (path) => writeFileSync(path, 'second'),
      exchanged: (path) => {
        expect(readFileSync(path, 'utf8')).toBe('ours');
        writeFileSync(`${path}.tmp`, 'third');
        renameSync(`${path}.tmp`, path);
      },
    });
    await expect(running).rejects.toMatchObject({
      ...stale,
      message: expect.stringContaining('f.agentd-displaced-'),
    });
    const [first = '', kept = '', ...rest] = await s.names();
    expect([first, rest]).toEqual(['f', []]);
    expect([await s.text('f'), await s.text(kept)]).toEqual(['third', 'second']);
  });
});

describe('a new file', () => {
  it.each([
    ['f', 'f'],
    ['d/e/f', 'd'],
  ])('%s replaces nothing that appears as %s after the last look [FS-9]', async (name, appearing) => {
    for (const moves of [kernelMoves(), Promise.resolve(null), Promise.resolve(unable)]) {
      await using s = await setup(moves);
      const acts: Acts = { checked: () => writeFileSync(s.at(appearing), 'theirs') };
      await expect(s.create(name, acts)).rejects.toMatchObject({
        code: expect.stringMatching(/^(stale|execution_failed)$/),
      });
      expect([await s.text(appearing), await s.names()]).toEqual(['theirs', [appearing]]);
    }
  });

  linux('below new folders', () => {
    it('leaves an empty folder that appears just then what it is, and goes into it [FS-9]', async () => {
      await using s = await setup();
      let made = 0;
      const acts: Acts = {
        checked: () => {
          if (made++ === 0) mkdirSync(s.at('d'), { mode: 0o700 });
        },
      };
      await s.create('d/e/f', acts);
      expect([await s.text('d/e/f'), (await lstat(s.at('d'))).mode & 0o777, made]).toEqual([
        'ours',
        0o700,
        2,
      ]);
    });
  });
});

describe('publication without moves of the kernel', () => {
  it.each([
    ['not loaded', null],
    ['refused by the file system', unable],
  ])('does its work all the same: %s [FS-9]', async (_what, moves) => {
    await using s = await setup(Promise.resolve(moves));
    await writeFile(s.at('f'), 'old');
    await s.replace();
    await s.create('new');
    await s.create('a/b/new');
    await mkdir(s.at('empty'));
    await s.create('empty/new');
    for (const name of ['f', 'new', 'a/b/new', 'empty/new']) expect(await s.text(name)).toBe('ours');
    expect((await s.names()).filter((name) => name.includes('agentd'))).toEqual([]);
    await expect(s.replace({ written: (path) => writeFileSync(path, 'theirs') })).rejects.toMatchObject(
      stale,
    );
    expect(await s.text('f')).toBe('theirs');
  });
});

linux('kernelMoves', () => {
  it('are none where koffi is not installed, and the tools work without [FS-9]', async () => {
    await using s = await setup();
    await writeFile(s.at('f'), 'old');
    const hook = `import { registerHooks } from 'node:module'; registerHooks({ resolve: (name, context, next) => {
      if (name === 'koffi') { console.error('asked for koffi'); throw new Error('no such package'); }
      return next(name, context);
    } });`;
    const under = ['env', `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(hook)}`];
    const args = { filePath: 'f', content: 'new' };
    const task = { kind: 'write', cwd: s.at('.'), journal: s.at('stages'), args } as const;
    const { stdout, stderr } = await runChild(task, { under });
    expect([stdout.trim(), stderr.trim()]).toEqual([
      JSON.stringify({ text: 'Replaced f (3 bytes).' }),
      'asked for koffi',
    ]);
    expect(await s.text('f')).toBe('new');
  });

  it('exchanges two names, moves to a free one, and fails as a rename does [FS-9]', async () => {
    await using s = await setup();
    const moves = await kernelMoves();
    await writeFile(s.at('a'), 'a');
    await writeFile(s.at('b\u00e9'), 'b');
    expect(moves?.exchange(s.at('a'), s.at('b\u00e9'))).toBe(true);
    expect([await s.text('a'), await s.text('b\u00e9')]).toEqual(['b', 'a']);
    expect(() => moves?.moveToFree(s.at('a'), s.at('b\u00e9'))).toThrow(
      expect.objectContaining({ code: 'EEXIST' }),
    );
    expect(() => moves?.exchange(s.at('a'), s.at('none'))).toThrow(/^ENOENT: no such file/);
    expect(moves?.moveToFree(s.at('a'), s.at('c'))).toBe(true);
    expect(await s.names()).toEqual(['b\u00e9', 'c']);
  });
});
