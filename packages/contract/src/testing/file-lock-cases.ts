import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContractCase } from './contract-case.ts';
import type { FileLocks } from '../file-locks.ts';

export interface FileLockSubject {
  readonly locks: FileLocks;
  /** An empty folder. */
  readonly folder: string;
}

/** What every `FileLocks` owes within one process; what holds between processes needs a second one to show. */
export const fileLockCases: readonly ContractCase<FileLockSubject>[] = [
  {
    name: 'creates the file with mode 0600 and writes the note',
    run: async ({ locks, folder }) => {
      const path = join(folder, 'a.lock');
      const lock = await locks.tryExclusive(path, 'held by me');
      notStrictEqual(lock, null);
      strictEqual((await stat(path)).mode & 0o777, 0o600);
      strictEqual(await readFile(path, 'utf8'), 'held by me');
      await lock?.release();
    },
  },
  {
    name: 'refuses a second holder until the first lets go, also after the file was read and closed elsewhere',
    run: async ({ locks, folder }) => {
      const path = join(folder, 'a.lock');
      const first = await locks.tryExclusive(path);
      await readFile(path);
      strictEqual(await locks.tryExclusive(path), null);
      await first?.release();
      const second = await locks.tryExclusive(path);
      notStrictEqual(second, null);
      await second?.release();
    },
  },
  {
    name: 'takes a second release and leaves the file in place',
    run: async ({ locks, folder }) => {
      const path = join(folder, 'a.lock');
      const lock = await locks.tryExclusive(path, 'note');
      await lock?.release();
      await lock?.release();
      deepStrictEqual(await readFile(path, 'utf8'), 'note');
    },
  },
];
