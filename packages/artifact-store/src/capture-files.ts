import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, streamsOf, type CaptureRequest, type FileLock, type FileLocks } from '@agentd/contract';
import { TemporaryFile } from './temporary-file.ts';

export interface CaptureFilePorts {
  readonly folder: string;
  readonly locks: FileLocks;
}

/** Names of files that only a writer needs: of captures, and of manifests on their way. */
const TEMPORARY_NAME = /^\.(?:capture-.+|[0-9a-f]{64}\.[0-9a-f-]{36})\.tmp$/;

export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/** The capture files of a call, in the order of its streams. Their names lead a later process back to the call. */
function pathsOf(folder: string, { callId, declaration }: CaptureRequest): readonly string[] {
  return streamsOf(declaration).map((stream, index) =>
    join(folder, `.capture-${callId}-${index}${stream === null ? '' : `-${stream}`}.tmp`),
  );
}

/** Creates and locks them; all or none (OUT-2, ART-11). */
export async function createCaptureFiles(
  request: CaptureRequest,
  { folder, locks }: CaptureFilePorts,
): Promise<readonly TemporaryFile[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files: TemporaryFile[] = [];
  try {
    for (const path of pathsOf(folder, request)) files.push(await TemporaryFile.create(path, locks));
    return files;
  } catch (error) {
    await Promise.all(files.map((file) => file.letGo()));
    throw error;
  }
}

/** Takes over what a dead process left of a call; null when nothing is there or somebody holds any of it. */
export async function adoptCaptureFiles(
  request: CaptureRequest,
  { folder, locks }: CaptureFilePorts,
): Promise<readonly TemporaryFile[] | null> {
  const paths = pathsOf(folder, request);
  const present = await Promise.all(paths.map(exists));
  if (!present.includes(true)) return null;
  const held: FileLock[] = [];
  try {
    // A stream whose file was never created is an empty one: taking the lock creates it.
    for (const path of paths) {
      const lock = await locks.tryExclusive(path);
      if (lock === null) break;
      held.push(lock);
    }
    if (held.length === paths.length) return await Promise.all(held.map((lock) => TemporaryFile.adopt(lock)));
  } catch (error) {
    await releaseAll(held);
    throw error;
  }
  await releaseAll(held);
  return null;
}

async function releaseAll(locks: readonly FileLock[]): Promise<void> {
  await Promise.all(locks.map((lock) => lock.release()));
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
