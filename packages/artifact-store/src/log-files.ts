import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '@agentd/contract';
import { storeError } from './errors.ts';

/** Folders that are read in one go: one takes some 10 µs, a turn through the thread pool several times that. */
const FOLDERS_AT_ONCE = 128;

/**
 * Every file of that name in a folder and in all folders below it. Folders that are not there, or go meanwhile, have none.
 * Rejects for a folder that cannot be read, and for a link to a folder: it does not say what may be collected.
 */
export async function* logFilesUnder(folder: string, name: string): AsyncGenerator<string> {
  const waiting = [folder];
  for (let count = 1; waiting.length > 0; count += 1) {
    const next = waiting.pop() ?? folder;
    for (const entry of entriesOf(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isSymbolicLink() && leadsToFolder(path)) {
        throw storeError('ARTIFACT_STORE_LOGS', `${path} is a link to a folder, which is not followed`);
      } else if (entry.name === name) yield path;
    }
    if (count % FOLDERS_AT_ONCE === 0) await setImmediate();
  }
}

function entriesOf(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Not gone: its name is no UTF-8, so that what was listed is not what it is called.
    if (folder.includes('\uFFFD')) {
      throw storeError('ARTIFACT_STORE_LOGS', `${folder} has a name that is no UTF-8, so it cannot be read`);
    }
    return [];
  }
}

const readEntries = (folder: string) => readdirSync(folder, { withFileTypes: true });

function leadsToFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // A circle of links, or one to where we may not look: no folder for us.
  }
}
