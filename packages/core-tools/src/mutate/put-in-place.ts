import { link, lstat, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, randomIds, toolError } from '@agentd/contract';
import { shownPath } from '../target/file-failure.ts';
import { stateOf, type FileState } from '../target/file-state.ts';
import { identityOf, isSameFile, type FileIdentity } from '../target/identity.ts';
import { staleTarget } from '../target/open-target.ts';
import type { TurnFiles } from '../turn-files.ts';
import type { KernelMoves } from './kernel-moves.ts';
import { syncFolder, type StagePorts } from './stage.ts';

export interface PublicationPorts extends StagePorts {
  readonly turnFiles: TurnFiles;
  /** Null: plain renames and links, which leave a moment between the last look and the move. */
  readonly moves: Promise<KernelMoves | null>;
}

/** A finished stage and the place that it is for. */
export interface Placement {
  /** A file, or a tree that holds it. */
  readonly stage: string;
  /** What `stage` will be called. */
  readonly place: string;
  /** The path of the file itself. */
  readonly path: string;
  /** The new file. */
  readonly identity: FileIdentity;
}

/** Once names are exchanged, the check of what came out must be finished whatever happens to the call. */
const NEVER = new AbortController().signal;

/**
 * Puts a stage in the place of a file. Where the kernel can, the two are exchanged and what comes out is checked to the
 * last byte: anything else than `expected` goes back and the call is `stale` (FS-9). The stage's name then stands for
 * what is to be removed.
 */
export async function putOver(
  placement: Placement,
  expected: FileState,
  ports: PublicationPorts,
): Promise<void> {
  const { stage, place } = placement;
  await putInPlace(placement, ports, async (moves) => {
    if (moves?.exchange(stage, place) !== true) return rename(stage, place);
    ports.atStep('exchanged');
    if (!(await isAsPrepared(stage, expected))) await rollBack(placement, moves);
  });
}

/** Puts a stage where nothing is. Throws `EEXIST`, or a kin of it, where something is by now (FS-9). */
export async function putNew(placement: Placement, ports: PublicationPorts): Promise<void> {
  const { stage, place, path } = placement;
  await putInPlace(placement, ports, async (moves) => {
    if (moves?.moveToFree(stage, place) === true) return;
    await (place === path ? linkOnly : rename)(stage, place);
  });
}

async function putInPlace(
  { path, identity }: Placement,
  { atStep, turnFiles, moves }: PublicationPorts,
  publish: (moves: KernelMoves | null) => Promise<void>,
): Promise<void> {
  const loaded = await moves;
  turnFiles.announce(path, identity);
  atStep('checked');
  await publish(loaded);
  atStep('published');
  // The file is in place whatever comes of this; some file systems cannot sync a folder.
  await syncFolder(dirname(path)).catch(() => undefined);
}

async function isAsPrepared(stage: string, { identity, sha256 }: FileState): Promise<boolean> {
  try {
    return (await stateOf(stage, identity, NEVER)).sha256 === sha256;
  } catch {
    // What cannot be read cannot be vouched for either.
    return false;
  }
}

/** Undoes an exchange that brought out a stranger's change. Never returns; nothing of a stranger's is lost. */
async function rollBack({ stage, place, identity }: Placement, moves: KernelMoves): Promise<never> {
  const isOurs = async (name: string): Promise<boolean> => {
    const found = await identityAt(name);
    return found !== null && isSameFile(found, identity);
  };
  try {
    if (await isOurs(place)) moves.exchange(stage, place);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
  if (await isOurs(stage)) throw staleTarget(place);
  // Somebody put a third file in place just then. It stays, and the second gets a name of its own.
  const kept = `${place}.agentd-displaced-${randomIds.uuid()}`;
  moves.moveToFree(stage, kept);
  throw toolError(
    'stale',
    `${shownPath(place)} was changed twice by others just now; nothing of this call was kept. The first of their versions is ${shownPath(kept)}. Read both and repeat the call.`,
  );
}

/** Links where the file system can: a link never replaces. Where it cannot, a look before the rename must do. */
async function linkOnly(stage: string, place: string): Promise<void> {
  try {
    await link(stage, place);
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    if ((await identityAt(place)) !== null) throw staleTarget(place);
    await rename(stage, place);
  }
}

/** Null where nothing is. */
export async function identityAt(path: string): Promise<FileIdentity | null> {
  try {
    return identityOf(await lstat(path, { bigint: true }));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
