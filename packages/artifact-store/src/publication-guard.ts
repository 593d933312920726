import { join } from 'node:path';
import { pause, type Clock, type FileLock } from '@agentd/contract';
import { storeError } from './errors.ts';
import type { SharedFileLocks } from './file-locks.ts';

const GUARD_FILE = '.publication.lock';

/** Waits between tries grow from the first to the second. */
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 250;
/** A janitor holds the store for well under a second; whoever holds it for this long is stuck. */
const PATIENCE_MS = 30_000;

export interface GuardPorts {
  readonly folder: string;
  readonly locks: SharedFileLocks;
  readonly clock: Clock;
}

/** Keeps the janitors of all processes away from what is published until it is referred to (ART-10). */
export class PublicationGuard {
  readonly #ports: GuardPorts;

  constructor(ports: GuardPorts) {
    this.#ports = ports;
  }

  /** For a publication: shared with other publications, after any janitor. */
  async hold(): Promise<FileLock> {
    const { folder, locks, clock } = this.#ports;
    const { signal } = new AbortController();
    let wait = FIRST_WAIT_MS;
    for (let waited = 0; waited < PATIENCE_MS; waited += wait) {
      const lock = await locks.tryShared(join(folder, GUARD_FILE));
      if (lock !== null) return lock;
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      await pause(wait, clock, signal);
    }
    throw storeError('ARTIFACT_STORE_BUSY', 'the artifact store is being cleaned up');
  }

  /** For a janitor: alone, or null while anything is being published. */
  tryAlone(): Promise<FileLock | null> {
    const { folder, locks } = this.#ports;
    return locks.tryExclusive(join(folder, GUARD_FILE));
  }
}
