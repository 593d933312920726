import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { streamsOf, type CaptureRequest, type FileLocks } from '@agentd/contract';
import { TemporaryFile } from './temporary-file.ts';

export interface CaptureFilePorts {
  readonly folder: string;
  readonly locks: FileLocks;
}

/** Names of files that only a writer needs: of captures, and of manifests on their way. */
const TEMPORARY_NAME = /^\.(?:capture-.+|[0-9a-f]{64}\.[0-9a-f-]{36})\.tmp$/;

const CALL_PART = /^\.capture-[0-9a-f-]{36}-/i;

export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/** Equal for all files of a call; of any other temporary file, its name. */
export function callPartOf(name: string): string {
  return CALL_PART.exec(name)?.[0] ?? name;
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
    await letGoOfAll(files);
    throw error;
  }
}

/**
 * Takes over those of the files that are there; none of them where somebody holds one or has just taken it over. All who
 * ask begin with the first stream, so of several that ask at once one gets everything.
 */
export async function adoptEach(
  paths: readonly string[],
  locks: FileLocks,
): Promise<ReadonlyMap<string, TemporaryFile>> {
  const files = new Map<string, TemporaryFile>();
  try {
    for (const path of paths) {
      const file = await TemporaryFile.adopt(path, locks);
      if (file === 'held') {
        await leaveAll(files);
        return new Map();
      }
      if (file !== 'missing') files.set(path, file);
    }
    return files;
  } catch (error) {
    await leaveAll(files);
    throw error;
  }
}

/**
 * Takes over what a dead process left of a call; null when nothing is there or somebody else has it, or when the process
 * was killed while it removed the files: what is left of them goes now.
 */
export async function adoptCaptureFiles(
  request: CaptureRequest,
  { folder, locks }: CaptureFilePorts,
): Promise<readonly TemporaryFile[] | null> {
  const paths = pathsOf(folder, request);
  const files = new Map(await adoptEach(paths, locks));
  const [first = ''] = paths;
  if (!files.has(first)) {
    await letGoOfAll([...files.values()]);
    return null;
  }
  try {
    // A stream whose file was never created is an empty one.
    for (const path of paths) {
      if (!files.has(path)) files.set(path, await TemporaryFile.create(path, locks));
    }
  } catch (error) {
    await leaveAll(files);
    throw error;
  }
  return paths.flatMap((path) => files.get(path) ?? []);
}

/**
 * Removes the files of a call. The first stream's goes first, as it came first: without it the others are what a process
 * was killed in the middle of removing, and nothing to recover.
 */
export async function letGoOfAll(files: readonly TemporaryFile[]): Promise<void> {
  const [first, ...others] = files;
  await first?.letGo();
  await Promise.all(others.map((file) => file.letGo()));
}

async function leaveAll(files: ReadonlyMap<string, TemporaryFile>): Promise<void> {
  await Promise.all([...files.values()].map((file) => file.leave()));
}
