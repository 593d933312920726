import { constants } from 'node:fs';
import { open, readlink, type FileHandle } from 'node:fs/promises';
import { codeOf, toolError, type AgentdError } from '@agentd/contract';
import { fileFailure, shownPath } from './file-failure.ts';
import { identityOf, type FileIdentity } from './identity.ts';
import type { ExistingTarget } from './resolve-target.ts';

/** Whatever stands there by now: no link is followed, no other side waited for, no terminal taken over. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Errors that mean: something else stands there now. */
const EXCHANGED: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/**
 * Opens what was prepared and nothing else, never blocking (FS-5, FS-6). Throws `stale` when `isExpected` refuses the
 * identity of what is there, or a folder above it is another one by now; the caller closes the handle.
 */
export async function openTarget(
  { path }: Pick<ExistingTarget, 'path'>,
  isExpected: (found: FileIdentity) => boolean,
): Promise<FileHandle> {
  const handle = await openForReading(path);
  try {
    if (!isExpected(identityOf(await handle.stat({ bigint: true })))) throw staleTarget(path);
    await requirePlace(handle, path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * A folder on the way may have become a link while the target was looked at: then identity and label are of two files,
 * and rules judged the wrong one (FS-11). Throws `stale`; looks at nothing where the system does not tell the place.
 */
export async function requirePlace({ fd }: FileHandle, path: string): Promise<void> {
  const place = await readlink(`/proc/self/fd/${fd}`).catch(() => path);
  if (place !== path) throw staleTarget(path);
}

export function staleTarget(path: string): AgentdError {
  return toolError(
    'stale',
    `${shownPath(path)} changed after this call was prepared; nothing was done. Read it again and repeat the call.`,
  );
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, FLAGS);
  } catch (error) {
    if (EXCHANGED.has(codeOf(error))) throw staleTarget(path);
    throw fileFailure('open', path, error);
  }
}
