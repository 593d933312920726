import { access, constants, lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, toolError, type AgentdError } from '@agentd/contract';
import { expectedFailure, fileFailure, shownPath } from '../target/file-failure.ts';
import { isSameFile, type FileIdentity } from '../target/identity.ts';
import { checkState, type FileState } from '../target/file-state.ts';
import { staleTarget } from '../target/open-target.ts';
import type { AbsentTarget } from '../target/resolve-target.ts';
import { identityAt, putNew, putOver, type PublicationPorts } from './put-in-place.ts';
import { publishAlone } from './publication-lock.ts';
import { syncFolder, withStage, writeStage } from './stage.ts';

/** What was put in place. */
export interface Published extends FileState {
  /** Further names that the replaced file had, which keep the old content. */
  readonly otherNames: number;
}

export interface Replacement {
  /** Real path. */
  readonly path: string;
  /** What must still stand there. */
  readonly expected: FileState;
  readonly content: Uint8Array;
}

/**
 * Puts new content in the place of an existing file. A reader sees the old or the new file, a crash leaves one of the
 * two, a failure leaves the old one and no stage (FS-9). Throws `stale` unless the file is as expected. Without kernel
 * moves, what a stranger writes between that last check and the rename, some microseconds, is lost.
 */
export async function replaceFile(
  { path, expected, content }: Replacement,
  ports: PublicationPorts,
  signal: AbortSignal,
): Promise<Published> {
  try {
    return await withStage(dirname(path), ports, async (stage) => {
      const { mode, uid, gid, nlink } = await lstat(path);
      const attributes = { mode: mode & 0o7777, uid, gid };
      const written = await writeStage(stage, { content, attributes }, ports.atStep);
      const locked = { path, identity: expected.identity, stage };
      await publishAlone(locked, { moves: await ports.moves, signal }, async () => {
        await checkMayWrite(path);
        await checkState(path, expected, signal);
        signal.throwIfAborted();
        await putOver({ stage, place: path, path, identity: written.identity }, expected, ports);
      });
      return { ...written, otherNames: nlink - 1 };
    });
  } catch (error) {
    throw codeOf(error) === 'ENOENT'
      ? await missingSomething(path, expected)
      : expectedFailure('write', path, error);
  }
}

/** What it means that something was not found: mostly that the file is gone. */
async function missingSomething(path: string, { identity }: FileState): Promise<AgentdError> {
  const found = await identityAt(path).catch(() => null);
  if (found === null || !isSameFile(found, identity)) return staleTarget(path);
  return toolError(
    'not_supported',
    `${shownPath(path)} cannot be replaced: its folder takes no new files; use bash to write into it`,
  );
}

/** Refuses what the user's own permissions refuse, although a rename could get around them (FS-8). */
export async function checkMayWrite(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK);
  } catch (error) {
    throw fileFailure('write', path, error);
  }
}

/** Folders that appear while the file is being made, at most so often, are taken as they are. */
const MAX_ATTEMPTS = 16;

/**
 * Puts a new file in place, with the folders above it, without replacing anything (FS-9). Folders that siblings made
 * meanwhile are used; a file that appeared, or anything else in the way, is `stale`.
 */
export async function createFile(
  { target, content }: { readonly target: AbsentTarget; readonly content: Uint8Array },
  ports: PublicationPorts,
  signal: AbortSignal,
): Promise<Published> {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const place = await freePlace(target);
      const publication = { ...place, path: target.path, content };
      const written = await (place.missing.length === 1 ? placeFile : placeTree)(publication, ports, signal);
      if (written !== null) return { ...written, otherNames: 0 };
    }
    throw staleTarget(target.path);
  } catch (error) {
    throw expectedFailure('write', target.path, error);
  }
}

/** Where a new file will stand: the deepest folder that exists, and the names that are missing below it. */
interface FreePlace {
  readonly folder: string;
  readonly folderIdentity: FileIdentity;
  readonly missing: readonly string[];
}

interface Creation extends FreePlace {
  /** The path of the new file. */
  readonly path: string;
  readonly content: Uint8Array;
}

async function freePlace({ path, ancestor, missing }: AbsentTarget): Promise<FreePlace> {
  let place: FreePlace = { folder: ancestor.path, folderIdentity: ancestor.identity, missing };
  await checkFolder(place, path);
  for (;;) {
    const [name = '', ...rest] = place.missing;
    const folder = join(place.folder, name);
    const found = await identityAt(folder);
    if (found === null) return place;
    // A link would lead elsewhere than what was approved, and a file is never replaced.
    if (found.kind !== 'directory' || rest.length === 0) throw staleTarget(path);
    place = { folder, folderIdentity: found, missing: rest };
  }
}

async function placeFile(
  { folder, folderIdentity, missing, path, content }: Creation,
  ports: PublicationPorts,
  signal: AbortSignal,
): Promise<FileState | null> {
  return withStage(folder, ports, async (stage) => {
    const written = await writeStage(stage, { content, attributes: null }, ports.atStep);
    await checkFolder({ folder, folderIdentity, missing }, path);
    signal.throwIfAborted();
    try {
      await putNew({ stage, place: path, path, identity: written.identity }, ports);
      return written;
    } catch (error) {
      throw codeOf(error) === 'EEXIST' ? staleTarget(path) : error;
    }
  });
}

/**
 * The missing folders are made as one tree under the stage's name and moved at once: a crash leaves none of them.
 * Null when the topmost one appeared meanwhile.
 */
async function placeTree(
  { folder, folderIdentity, missing, path, content }: Creation,
  ports: PublicationPorts,
  signal: AbortSignal,
): Promise<FileState | null> {
  const [top = '', ...below] = missing;
  return withStage(folder, ports, async (stage) => {
    const parents = below.map((_name, index) => join(stage, ...below.slice(0, index)));
    for (const parent of parents) await mkdir(parent);
    const written = await writeStage(join(stage, ...below), { content, attributes: null }, ports.atStep);
    for (const parent of parents) await syncFolder(parent);
    await checkFolder({ folder, folderIdentity, missing }, path);
    if ((await identityAt(join(folder, top))) !== null) return null;
    signal.throwIfAborted();
    try {
      await putNew({ stage, place: join(folder, top), path, identity: written.identity }, ports);
      return written;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null;
      throw error;
    }
  });
}

async function checkFolder({ folder, folderIdentity }: FreePlace, path: string): Promise<void> {
  const found = await identityAt(folder);
  if (found === null || !isSameFile(found, folderIdentity)) throw staleTarget(path);
}
