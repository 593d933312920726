import { lstat, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { codeOf, isJsonObject, type FileLock, type FileLocks, type Ids } from '@agentd/contract';
import type { StageJournal, StageRecord } from '../ports.ts';
import { isStageName } from './stage.ts';

export interface StageJournalPorts {
  /** Absolute folder of the journal, one for a project; made when first needed. */
  readonly folder: string;
  readonly locks: FileLocks;
  readonly ids: Ids;
}

/** A journal that survives the process. */
export interface FileStageJournal extends StageJournal {
  /** Removes the stages whose recording process is gone; resolves with their paths. Safe beside living processes. */
  readonly cleanAbandonedStages: () => Promise<readonly string[]>;
}

/** A record nobody could lock is a record of somebody who lives; a second id is always free. */
const MAX_ATTEMPTS = 8;

/**
 * One small file a stage, locked while its writer lives (FS-9). Records are not synced: the two further syncs took as
 * long as a small change itself, so after a power cut, unlike after a kill, one may be missing and its stage stays.
 */
export function fileStageJournal(ports: StageJournalPorts): FileStageJournal {
  return {
    record: (stage) => record(ports, stage),
    cleanAbandonedStages: () => cleanAbandonedStages(ports),
  };
}

async function record({ folder, locks, ids }: StageJournalPorts, stage: string): Promise<StageRecord> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const note = JSON.stringify({ stage });
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const lock = await locks.tryExclusive(join(folder, `${ids.uuid()}.json`), note);
    if (lock === null) continue;
    // A cleaner may have taken the file between its creation and its lock.
    if (await isThere(lock.path)) return { forget: () => forget(lock) };
    await lock.release();
  }
  throw new Error(`no record of a stage could be locked in ${folder}`);
}

/** The file goes while it is locked: a free record is always one of a dead process. */
async function forget(lock: FileLock): Promise<void> {
  await rm(lock.path, { force: true });
  await lock.release();
}

async function cleanAbandonedStages({ folder, locks }: StageJournalPorts): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await recordsIn(folder)) {
    const lock = await locks.tryExclusive(join(folder, name));
    if (lock === null) continue;
    try {
      const stage = stageOf(await readFile(lock.path, 'utf8').catch(() => ''));
      if (stage !== null && (await isThere(stage))) {
        await rm(stage, { recursive: true, force: true });
        removed.push(stage);
      }
      await rm(lock.path, { force: true });
    } catch (error) {
      // The stage's folder is out of reach for now; its record stays for another start.
      if (codeOf(error) === undefined) throw error;
    } finally {
      await lock.release();
    }
  }
  return removed;
}

async function recordsIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The path in a record, or null: whatever a record says, only what bears a stage's name is ever removed. */
function stageOf(text: string): string | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const stage = isJsonObject(parsed) ? parsed['stage'] : undefined;
  return typeof stage === 'string' && isAbsolute(stage) && isStageName(basename(stage)) ? stage : null;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
