import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * Makes new names in a folder durable. Whoever asks while one sync is under way shares the next one: the many small
 * blobs of one result cost two syncs instead of one each.
 */
export class FolderSync {
  readonly #folder: string;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves once every name that was there at the call is durable. */
  settle(): Promise<void> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  async #after(running: Promise<void>): Promise<void> {
    await running.catch(() => undefined); // Its own callers were told.
    this.#running = syncFolder(this.#folder);
    this.#next = null;
    await this.#running;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
