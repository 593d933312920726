import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { chunksOf } from './chunks.ts';
import { expectedFailure } from './file-failure.ts';
import { isSameFile, type FileIdentity } from './identity.ts';
import { openTarget, staleTarget } from './open-target.ts';

/** A file and its bytes at one moment. Times play no part: they lie (FS-9). */
export interface FileState {
  readonly identity: FileIdentity;
  /** Lowercase hex. */
  readonly sha256: string;
}

export function isSameState(one: FileState, other: FileState): boolean {
  return isSameFile(one.identity, other.identity) && one.sha256 === other.sha256;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The SHA-256 of a file's bytes now. Throws `stale` when another file stands there. */
export async function digestOf(path: string, identity: FileIdentity, signal: AbortSignal): Promise<string> {
  return withOpened(path, identity, async (handle) => {
    const hash = createHash('sha256');
    for await (const chunk of chunksOf(handle, {}, signal)) hash.update(chunk);
    return hash.digest('hex');
  });
}

/** All bytes of a file that is known to be small enough. Throws `stale` when another file stands there. */
export function bytesOf(path: string, identity: FileIdentity): Promise<Buffer> {
  return withOpened(path, identity, (handle) => handle.readFile());
}

/** Throws `stale` unless the file is as `expected` to the last byte. */
export async function checkState(path: string, expected: FileState, signal: AbortSignal): Promise<void> {
  if ((await digestOf(path, expected.identity, signal)) !== expected.sha256) throw staleTarget(path);
}

async function withOpened<T>(
  path: string,
  identity: FileIdentity,
  use: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await openTarget({ path }, (found) => isSameFile(found, identity));
  try {
    return await use(handle);
  } catch (error) {
    throw expectedFailure('read', path, error);
  } finally {
    await handle.close();
  }
}
