import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { FileLock, FileLocks } from '@agentd/contract';
import { tryLock, type LockKind } from './native-locks.ts';

/** File locks that can also be shared: what the store's publication guard needs beyond the contract (ART-10). */
export interface SharedFileLocks extends FileLocks {
  /** Like `tryExclusive`, but any number of holders may share the lock; null while one holds it exclusively. */
  readonly tryShared: (path: string) => Promise<FileLock | null>;
}

/**
 * Open-file-description locks of the operating system. Unlike POSIX record locks they also exclude two holders of one
 * process, and survive that another part of the process opens and closes the same file.
 */
export const fileLocks: SharedFileLocks = {
  tryExclusive: (path, note) => acquire(path, 'exclusive', note),
  tryShared: (path) => acquire(path, 'shared'),
};

const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

async function acquire(path: string, kind: LockKind, note?: string): Promise<FileLock | null> {
  const file = await open(path, OPEN_FLAGS, 0o600);
  try {
    if (!(await tryLock(file, kind))) {
      await file.close();
      return null;
    }
    if (note !== undefined) await replaceContent(file, note);
  } catch (error) {
    await file.close();
    throw error;
  }
  return heldLock(path, file);
}

async function replaceContent(file: FileHandle, note: string): Promise<void> {
  await file.truncate(0);
  await file.writeFile(note);
}

function heldLock(path: string, file: FileHandle): FileLock {
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    // Closing the only descriptor of this opening is what frees the lock.
    released ??= file.close();
    return released;
  };
  return { path, release };
}
