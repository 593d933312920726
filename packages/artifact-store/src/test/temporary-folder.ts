import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';

/** Makes empty folders and removes them after each test of the file that calls this. */
export function temporaryFolders(parent = tmpdir()): () => Promise<string> {
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  });
  return async () => {
    const folder = await mkdtemp(join(parent, 'artifact-store-'));
    folders.push(folder);
    return folder;
  };
}

const IN_MEMORY = '/dev/shm';

/** The same in memory where the system offers that: for thousands of rounds whose subject is order, not the disk. */
export function fastTemporaryFolders(): () => Promise<string> {
  return temporaryFolders(isWritable(IN_MEMORY) ? IN_MEMORY : tmpdir());
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
