import { describe, expect, it } from '@jest/globals';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomIds } from '@agentd/contract';
import { scratchFolder } from '../testing/calls.ts';
import { nativeFileLocks } from '../testing/native-file-locks.ts';
import { runChild } from '../testing/run-child.ts';
import { fileStageJournal } from './stage-journal.ts';
import type { PublicationStep } from './stage.ts';

async function setup() {
  const folder = await scratchFolder();
  const cwd = join(folder.path, 'ws');
  const journal = join(folder.path, 'stages');
  await mkdir(cwd);
  const stages = fileStageJournal({ folder: journal, locks: nativeFileLocks, ids: randomIds });
  return {
    cwd,
    journal,
    stages,
    text: (name: string) => readFile(join(cwd, name), 'utf8').catch(() => null),
    entries: async () => (await readdir(cwd, { recursive: true })).toSorted(),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const isStage = (name: string): boolean => name.includes('.agentd-stage-');
const STEPS: readonly PublicationStep[] = [
  'recorded',
  'opened',
  'written',
  'checked',
  'exchanged',
  'published',
  'removed',
];
const KERNEL = process.platform === 'linux' ? 'kernel' : 'plain';

describe('a process that is killed while it publishes', () => {
  it.each([
    ['an existing file', KERNEL, 'f'],
    ['an existing file', 'plain', 'f'],
    ['a new file', KERNEL, 'new'],
    ['a new file', 'plain', 'new'],
    ['a new file below new folders', KERNEL, 'a/b/new'],
    ['a new file below new folders', 'plain', 'a/b/new'],
  ] as const)(
    'leaves the old or the new one of %s (%s moves) at every step, and no litter after the next start [FS-9]',
    async (...row) => {
      const [, moves, name] = row;
      const exchanges = name === 'f' && moves === 'kernel';
      const steps = STEPS.filter((step) => step !== 'exchanged' || exchanges);
      await Promise.all(steps.map((step) => killAt(step, name, moves)));
    },
  );

  it('leaves a whole version at any moment, through the tool itself [FS-9]', async () => {
    await using s = await setup();
    const [old, content] = ['old\n'.repeat(50_000), 'new\n'.repeat(70_000)];
    for (let round = 0; round < 5; round++) {
      await writeFile(join(s.cwd, 'f'), old);
      const args = { filePath: 'f', content };
      const task = { kind: 'write', cwd: s.cwd, journal: s.journal, args, forever: true } as const;
      const { signal } = await runChild(task, { killAfterMs: round * 5 });
      expect(signal).toBe('SIGKILL');
      expect([old, content]).toContain(await s.text('f'));
      await s.stages.cleanAbandonedStages();
      expect([await s.entries(), await readdir(s.journal)]).toEqual([['f'], []]);
    }
  });
});

describe('processes that edit one file at once', () => {
  const linuxIt = process.platform === 'linux' ? it : it.skip;

  linuxIt('lose no edit, make none twice, and leave nothing beside the file [FS-9]', async () => {
    await using s = await setup();
    await writeFile(join(s.cwd, 'f'), 'END');
    const count = 25;
    const args = { filePath: 'f' };
    const task = { kind: 'mark', cwd: s.cwd, journal: s.journal, args, count } as const;
    const ends = await Promise.all([runChild(task), runChild(task), runChild(task)]);
    expect(ends.map(({ stderr }) => stderr)).toEqual(['', '', '']);
    const marks = (await s.text('f'))?.split(' ').slice(0, -1) ?? [];
    expect([marks.length, new Set(marks).size]).toEqual([3 * count, 3 * count]);
    expect([await s.entries(), await readdir(s.journal)]).toEqual([['f'], []]);
  });
});

async function killAt(step: PublicationStep, name: string, moves: 'kernel' | 'plain'): Promise<void> {
  await using s = await setup();
  const old = name === 'f' ? 'old' : null;
  await writeFile(join(s.cwd, 'f'), 'old');
  const args = { filePath: name, content: 'new content' };
  const task = { kind: 'publish', cwd: s.cwd, journal: s.journal, args, step, moves } as const;
  const { signal, stderr } = await runChild(task);
  expect([step, signal, stderr]).toEqual([step, 'SIGKILL', '']);
  const isNew = ['exchanged', 'published', 'removed'].includes(step);
  const expected = isNew ? 'new content' : old;
  expect([step, await s.text(name)]).toEqual([step, expected]);
  expect([step, await readdir(s.journal)]).toEqual([step, [expect.stringMatching(/\.json$/)]]);

  const removed = await s.stages.cleanAbandonedStages();
  expect(removed.every((path) => isStage(path))).toBe(true);
  expect([step, await s.entries()]).toEqual([
    step,
    ['f', ...(isNew && name !== 'f' ? parents(name) : [])].toSorted(),
  ]);
  expect([await s.text(name), await readdir(s.journal)]).toEqual([expected, []]);
}

function parents(name: string): readonly string[] {
  const names = name.split('/');
  return names.map((_part, index) => names.slice(0, index + 1).join('/'));
}

describe('a failure while publishing', () => {
  /** As root without its privileges, or as whoever runs the test. */
  const ordinary = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
  const linuxIt = process.platform === 'linux' ? it : it.skip;
  const refusals = (stdout: string) => JSON.parse(stdout) as { code: string; message: string };

  linuxIt('refuses a file that the user may not write; mode and bytes stay [FS-8] [field B4]', async () => {
    await using s = await setup();
    await writeFile(join(s.cwd, 'f'), 'keep');
    await chmod(join(s.cwd, 'f'), 0o444);
    for (const [kind, args] of [
      ['write', { filePath: 'f', content: 'x' }],
      ['edit', { filePath: 'f', oldString: 'keep', newString: 'x' }],
    ] as const) {
      const { stdout } = await runChild({ kind, cwd: s.cwd, journal: s.journal, args }, { under: ordinary });
      expect(refusals(stdout)).toMatchObject({
        code: 'execution_failed',
        message: expect.stringContaining('EACCES'),
      });
    }
    expect([await s.text('f'), (await stat(join(s.cwd, 'f'))).mode & 0o777]).toEqual(['keep', 0o444]);
  });

  linuxIt(
    'names the cause in a folder without write permission; nothing is left [FS-9] [field B22]',
    async () => {
      await using s = await setup();
      await mkdir(join(s.cwd, 'd'));
      await writeFile(join(s.cwd, 'd/f'), 'old');
      await chmod(join(s.cwd, 'd'), 0o555);
      for (const filePath of ['d/f', 'd/new', 'd/sub/new']) {
        const task = {
          kind: 'write',
          cwd: s.cwd,
          journal: s.journal,
          args: { filePath, content: 'x' },
        } as const;
        const { stdout } = await runChild(task, { under: ordinary });
        expect(refusals(stdout)).toMatchObject({
          code: 'execution_failed',
          message: expect.stringContaining('EACCES'),
        });
      }
      expect([await s.text('d/f'), await s.entries(), await readdir(s.journal)]).toEqual([
        'old',
        ['d', 'd/f'],
        [],
      ]);
      await chmod(join(s.cwd, 'd'), 0o755);
    },
  );

  linuxIt('keeps the old file when the disk takes no more [FS-9] [field B22]', async () => {
    await using s = await setup();
    await writeFile(join(s.cwd, 'f'), 'old');
    // A limit on the size of files stands for a full disk: the write of the stage fails half-way.
    const under = ['bash', '-c', 'trap "" XFSZ; ulimit -f 64; exec "$@"', 'bash'];
    const args = { filePath: 'f', content: 'x'.repeat(200_000) };
    const { stdout, stderr } = await runChild(
      { kind: 'write', cwd: s.cwd, journal: s.journal, args },
      { under },
    );
    expect(stderr).toBe('');
    expect(refusals(stdout)).toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('EFBIG'),
    });
    expect([await s.text('f'), await s.entries(), await readdir(s.journal)]).toEqual(['old', ['f'], []]);
  });
});
