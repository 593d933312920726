import { lstat } from 'node:fs/promises';
import { codeOf, type FileLock, type FileLocks, type SessionId } from '@agentd/contract';
import { engineError } from '../errors.ts';

/**
 * Locks the log itself, which its writer holds beside the tree's lock: whoever deletes or exchanges `owner.lock` makes
 * no second writer with that (SES-4). Null where there is no regular file; its reader says what is wrong then.
 */
export async function lockLog(
  locks: FileLocks,
  path: string,
  sessionId: SessionId,
): Promise<FileLock | null> {
  if (!(await isRegularFile(path))) return null;
  const lock = await locks.tryExclusive(path);
  if (lock !== null) return lock;
  throw engineError(
    'ENGINE_SESSION_LOCKED',
    `session ${sessionId} is in use by another process, which does not hold its owner.lock any more: the file was ` +
      'removed or replaced; end that process, or only read the session',
    { details: { pid: null, startedAt: null } },
  );
}

async function isRegularFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
