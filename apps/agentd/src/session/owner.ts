import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf } from '@agentd/contract';
import type { RunRow } from './run-rows.ts';

/** The note that the owner of a session leaves beside its log. */
const NOTE = 'owner.lock';

/**
 * What a log that ends in an open run means now: the run was cut off when the process that ran it is gone. The lock itself
 * is left alone: to try it would keep an owner away for a moment.
 */
export async function statusNow(status: RunRow['status'] | 'idle', log: string): Promise<typeof status> {
  return status === 'running' && (await ownerIsGone(dirname(log))) ? 'interrupted' : status;
}

/** False where it cannot be known. A subagent's log lies two folders below the note of its tree. */
async function ownerIsGone(folder: string): Promise<boolean> {
  const note = (await readNote(folder)) ?? (await readNote(join(folder, '..', '..')));
  if (note?.hostname !== hostname() || typeof note.pid !== 'number') return false;
  try {
    process.kill(note.pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

async function readNote(folder: string): Promise<{ pid?: unknown; hostname?: unknown } | null> {
  try {
    const note: unknown = JSON.parse(await readFile(join(folder, NOTE), 'utf8'));
    return typeof note === 'object' ? note : null;
  } catch {
    return null;
  }
}
