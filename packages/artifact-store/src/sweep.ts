import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, FileLocks } from '@agentd/contract';
import { adoptEach, callPartOf, isTemporaryName, letGoOfAll } from './capture-files.ts';

/** A file that nobody has written to for this long, and that nobody holds, is abandoned (ART-11). */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

export interface SweepPorts {
  readonly folder: string;
  readonly locks: FileLocks;
  readonly clock: Clock;
}

/**
 * Removes temporary files that are older than an hour and whose lock is free at once; resolves with their number.
 * A silent long capture holds its lock, so it is never taken for abandoned (ART-11). The files of a call go together or
 * stay together: a stream that was silent for its last hour is as young as the others. Never rejects.
 */
export async function sweepTemporaryFiles(ports: SweepPorts): Promise<number> {
  const names = (await namesIn(ports.folder)).filter(isTemporaryName).toSorted();
  let removed = 0;
  for (const [, group] of Map.groupBy(names, callPartOf)) {
    removed += await removeAbandoned(
      group.map((name) => join(ports.folder, name)),
      ports,
    );
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

async function removeAbandoned(paths: readonly string[], { locks, clock }: SweepPorts): Promise<number> {
  try {
    const times = await Promise.all(paths.map(async (path) => (await lstat(path)).mtimeMs));
    if (clock.now() - Math.max(...times) <= ABANDONED_AFTER_MS) return 0;
    const files = await adoptEach(paths, locks);
    await letGoOfAll([...files.values()]);
    return files.size;
  } catch {
    return 0; // Gone meanwhile, a link, or not ours to remove: left alone.
  }
}
