import { stat } from 'node:fs/promises';
import { codeOf, messageOf, toolError } from '@agentd/contract';

/** Which folder a path led to. Strings, because inode numbers do not fit a JSON number. */
export interface FolderIdentity {
  readonly path: string;
  readonly device: string;
  readonly inode: string;
}

/** Throws the tool error `not_found`, with the path, when the folder is gone or is none (field C8). */
export async function folderIdentity(path: string): Promise<FolderIdentity> {
  const found = await stat(path, { bigint: true }).catch((thrown: unknown) => {
    throw folderGone(path, codeOf(thrown) === 'ENOENT' ? 'it does not exist' : messageOf(thrown), thrown);
  });
  if (!found.isDirectory()) throw folderGone(path, 'it is not a directory');
  return { path, device: String(found.dev), inode: String(found.ino) };
}

/** Throws `stale` when the path leads to another folder now, and `not_found` when to none. */
export async function checkFolder(approved: FolderIdentity): Promise<void> {
  const { device, inode } = await folderIdentity(approved.path);
  if (device === approved.device && inode === approved.inode) return;
  throw toolError(
    'stale',
    `the working directory ${approved.path} was replaced by another one after this call was prepared; nothing ran`,
  );
}

function folderGone(path: string, why: string, cause?: unknown): Error {
  const message = `cannot use the working directory ${path} of this session: ${why}. No command runs until it is there again; nothing ran`;
  return toolError('not_found', message, { cause });
}
