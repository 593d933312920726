import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, isUuid, randomIds } from '@agentd/contract';
import type { StageJournal } from '../ports.ts';
import type { FileState } from '../target/file-state.ts';
import { requirePlace } from '../target/open-target.ts';
import { identityOf } from '../target/identity.ts';

const STAGE_PREFIX = '.agentd-stage-';

/** Whether a file of this name can be nothing but a stage of ours. */
export function isStageName(name: string): boolean {
  return name.startsWith(STAGE_PREFIX) && isUuid(name.slice(STAGE_PREFIX.length));
}

/** Moments of a publication, for tests that end the process there. */
export type PublicationStep =
  | 'recorded'
  | 'opened'
  | 'written'
  | 'checked'
  | 'exchanged'
  | 'published'
  | 'removed';

export interface StagePorts {
  readonly stages: StageJournal | null;
  readonly atStep: (step: PublicationStep) => void;
}

/** Gives `use` an unused name in `folder`, on record while it is in use; whatever bears it afterwards is removed. */
export async function withStage<T>(
  folder: string,
  { stages, atStep }: StagePorts,
  use: (stage: string) => Promise<T>,
): Promise<T> {
  const stage = join(folder, `${STAGE_PREFIX}${randomIds.uuid()}`);
  const record = await stages?.record(stage);
  atStep('recorded');
  try {
    return await use(stage);
  } finally {
    // A stage that cannot be removed now stays on record for the next process.
    if (await isRemoved(stage)) {
      atStep('removed');
      await record?.forget();
    }
  }
}

/** Mode and owner that a replaced file hands on. */
interface FileAttributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export interface StageContent {
  readonly content: Uint8Array;
  /** Null for a new file, which gets what the process gives new files. */
  readonly attributes: FileAttributes | null;
}

/** Creates `path` with the whole content, on disk when this resolves. */
export async function writeStage(
  path: string,
  { content, attributes }: StageContent,
  atStep: StagePorts['atStep'],
): Promise<FileState> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(path, flags, attributes === null ? 0o666 : 0o600);
  try {
    await requirePlace(handle, path);
    atStep('opened');
    const sha256 = await writeHashed(handle, content);
    if (attributes !== null) await keepAttributes(handle, attributes);
    await handle.sync();
    atStep('written');
    return { identity: identityOf(await handle.stat({ bigint: true })), sha256 };
  } finally {
    await handle.close();
  }
}

/** How much is hashed while it is written. */
const PIECE_BYTES = 512 * 1024;

async function writeHashed(handle: FileHandle, content: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    const piece = content.subarray(at, at + PIECE_BYTES);
    const writing = handle.writeFile(piece);
    hash.update(piece);
    await writing;
  }
  return hash.digest('hex');
}

/** Puts the names in a folder on disk. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepAttributes(handle: FileHandle, { mode, uid, gid }: FileAttributes): Promise<void> {
  const own = await handle.stat();
  const isKept =
    (own.uid === uid && own.gid === gid) ||
    (await isPermitted(handle.chown(uid, gid))) ||
    (own.uid === uid && (await isPermitted(handle.chown(own.uid, gid))));
  // Set-id bits speak of the owner: with another one they would grant what nobody granted.
  await handle.chmod(mode & (isKept ? 0o7777 : 0o777));
}

async function isPermitted(change: Promise<void>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (codeOf(error) === 'EPERM') return false;
    throw error;
  }
}

async function isRemoved(stage: string): Promise<boolean> {
  try {
    await rm(stage, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
