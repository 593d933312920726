import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileLockCases } from '@agentd/contract/testing';
import { fileLocks } from './file-locks.ts';
import { runProgram } from './test/processes.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();

describe('fileLocks keeps the contract of FileLocks', () => {
  it.each(fileLockCases)('$name', async ({ run }) => run({ locks: fileLocks, folder: await newFolder() }));
});

describe('fileLocks between processes', () => {
  it('refuses while another process holds the file, and is free once that process was killed [ART-11]', async () => {
    const path = join(await newFolder(), 'a.lock');
    const holder = runProgram('hold-lock', [path, 'exclusive']);
    expect(await holder.nextLine()).toBe('held');
    expect(await fileLocks.tryExclusive(path)).toBeNull();
    expect(await fileLocks.tryShared(path)).toBeNull();
    await holder.kill();
    const lock = await fileLocks.tryExclusive(path);
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it('lets holders share across processes and keeps an exclusive one out [ART-10]', async () => {
    const path = join(await newFolder(), 'guard');
    const holder = runProgram('hold-lock', [path, 'shared']);
    expect(await holder.nextLine()).toBe('held');
    const mine = await fileLocks.tryShared(path);
    expect(mine).not.toBeNull();
    await holder.kill();
    expect(await fileLocks.tryExclusive(path)).toBeNull();
    await mine?.release();
    const exclusive = await fileLocks.tryExclusive(path);
    expect(exclusive).not.toBeNull();
    await exclusive?.release();
  });
});

describe('fileLocks and hostile files', () => {
  it('does not follow a symbolic link and leaves its target alone [ART-1]', async () => {
    const folder = await newFolder();
    const target = join(folder, 'target');
    await writeFile(target, 'precious');
    await symlink(target, join(folder, 'link'));
    await expect(fileLocks.tryExclusive(join(folder, 'link'), 'note')).rejects.toMatchObject({
      code: 'ELOOP',
    });
    expect(await readFile(target, 'utf8')).toBe('precious');
  });

  it('does not touch the note of the holder when it is refused', async () => {
    const path = join(await newFolder(), 'a.lock');
    const lock = await fileLocks.tryExclusive(path, 'first');
    expect(await fileLocks.tryExclusive(path, 'second, and longer')).toBeNull();
    expect(await readFile(path, 'utf8')).toBe('first');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await lock?.release();
  });
});
