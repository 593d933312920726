import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, FileLocks } from '@agentd/contract';
import { isTemporaryName } from './capture-files.ts';

/** A file that nobody has written to for this long, and that nobody holds, is abandoned (ART-11). */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

export interface SweepPorts {
  readonly folder: string;
  readonly locks: FileLocks;
  readonly clock: Clock;
}

/**
 * Removes temporary files that are older than an hour and whose lock is free at once; resolves with their number.
 * A silent long capture holds its lock, so it is never taken for abandoned (ART-11). Never rejects.
 */
export async function sweepTemporaryFiles(ports: SweepPorts): Promise<number> {
  let removed = 0;
  for (const name of await namesIn(ports.folder)) {
    if (isTemporaryName(name) && (await removeAbandoned(join(ports.folder, name), ports))) removed += 1;
  }
  return removed;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // No folder, or none that can be read: nothing to sweep, and no reason not to start.
  }
}

async function removeAbandoned(path: string, { locks, clock }: SweepPorts): Promise<boolean> {
  try {
    if (clock.now() - (await stat(path)).mtimeMs <= ABANDONED_AFTER_MS) return false;
    const lock = await locks.tryExclusive(path);
    if (lock === null) return false;
    try {
      await unlink(path);
      return true;
    } finally {
      await lock.release();
    }
  } catch {
    return false; // Gone meanwhile, a link, or not ours to remove: left alone.
  }
}
