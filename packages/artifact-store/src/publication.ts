import { constants } from 'node:fs';
import { link, open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { codeOf, pause, type Clock, type FileLock, type Ids } from '@agentd/contract';
import { storeError } from './errors.ts';
import type { SharedFileLocks } from './file-locks.ts';
import { formatManifest } from './manifest.ts';
import type { StoredStream, StreamCapture } from './stream-capture.ts';
import { TemporaryFile } from './temporary-file.ts';
import { encodeUtf8 } from './utf8.ts';

/** The lock file of the publication guard. The janitor must hold it exclusively for a pass (ART-10). */
const GUARD_FILE = '.publication.lock';

/** Waits between tries grow from the first to the second. */
const GUARD_FIRST_WAIT_MS = 5;
const GUARD_LONGEST_WAIT_MS = 250;
/** A janitor's pass takes well under a second; whoever holds the store for this long is stuck. */
const GUARD_PATIENCE_MS = 30_000;

export interface PublisherPorts {
  readonly folder: string;
  readonly locks: SharedFileLocks;
  readonly clock: Clock;
  readonly ids: Ids;
}

type BlobName = Pick<StoredStream, 'sha256' | 'byte_length'>;

/** A stream whose file is complete. */
export interface PublishedStream {
  readonly capture: StreamCapture;
  readonly stored: StoredStream;
}

export interface Published {
  /** Of the one stream, or of the manifest (OUT-3). */
  readonly digest: string;
  /** Keeps the janitor away from what was published (ART-10). */
  readonly guard: FileLock;
}

/**
 * Gives finished files their digest for a name.
 * No mutex is needed beside the guard: a blob appears under its name by one `link`, which never replaces, so publishers
 * of the same content in any number of processes find either nothing or the whole of it (ART-1, ART-10).
 */
export class Publisher {
  readonly #ports: PublisherPorts;

  constructor(ports: PublisherPorts) {
    this.#ports = ports;
  }

  /** Publishes the streams of a call, and for named ones their manifest; on a fault the guard is free again. */
  async publish(streams: readonly PublishedStream[]): Promise<Published> {
    const guard = await this.#guard();
    try {
      const blobs = streams.map(({ capture, stored }) => this.#publishFile(capture.file, stored));
      // A manifest may come before its streams: nothing refers to it until all are there.
      const digest = await allDone(this.#digestOf(streams), blobs);
      await this.#settle();
      return { digest, guard };
    } catch (error) {
      await guard.release();
      throw error;
    }
  }

  async #guard(): Promise<FileLock> {
    const { folder, locks, clock } = this.#ports;
    const { signal } = new AbortController();
    let wait = GUARD_FIRST_WAIT_MS;
    for (let waited = 0; waited < GUARD_PATIENCE_MS; waited += wait) {
      const lock = await locks.tryShared(join(folder, GUARD_FILE));
      if (lock !== null) return lock;
      wait = Math.min(wait * 2, GUARD_LONGEST_WAIT_MS);
      await pause(wait, clock, signal);
    }
    throw storeError('ARTIFACT_STORE_BUSY', 'the artifact store is being cleaned up');
  }

  /** The content is on the disk before its name is. */
  async #publishFile(file: TemporaryFile | null, { sha256, byte_length }: BlobName): Promise<void> {
    if (file === null) throw storeError('ARTIFACT_STORE_FILE_CHANGED', 'a capture file is missing');
    const path = join(this.#ports.folder, sha256);
    if (await this.#refresh(path, byte_length)) return;
    const now = this.#ports.clock.now() / 1000;
    await file.handle.utimes(now, now);
    await file.handle.sync();
    while (!(await linked(file.path, path))) {
      if (await this.#refresh(path, byte_length)) return;
    }
  }

  async #digestOf(streams: readonly PublishedStream[]): Promise<string> {
    const [first] = streams;
    if (first?.capture.name === null) return first.stored.sha256;
    const named = streams.map(({ capture, stored }) => ({ name: capture.name ?? '', ...stored }));
    return this.#publishText(formatManifest(named));
  }

  async #publishText(text: string): Promise<string> {
    const { folder, locks, ids } = this.#ports;
    const bytes = encodeUtf8(text);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = await TemporaryFile.create(join(folder, `.${sha256}.${ids.uuid()}.tmp`), locks);
    try {
      file.write(bytes);
      await file.seal();
      await this.#publishFile(file, { sha256, byte_length: bytes.length });
    } finally {
      await file.letGo();
    }
    return sha256;
  }

  /** Makes the new names durable. */
  async #settle(): Promise<void> {
    const folder = await open(this.#ports.folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /**
   * Whether the blob is there; its time is then set to now, as if it were new.
   * One of another length, or a link, is damage: it makes room for the right content.
   */
  async #refresh(path: string, byteLength: number): Promise<boolean> {
    const blob = await openBlob(path);
    if (blob === 'missing') return false;
    if (blob !== 'link') {
      try {
        const stat = await blob.stat();
        const now = this.#ports.clock.now() / 1000;
        if (stat.isFile() && stat.size === byteLength) {
          await blob.utimes(now, now);
          return true;
        }
      } finally {
        await blob.close();
      }
    }
    await removeDamaged(path);
    return false;
  }
}

/** Like `Promise.all`, but leaves nothing running behind when one fails. */
async function allDone<Value>(first: Promise<Value>, others: readonly Promise<void>[]): Promise<Value> {
  await Promise.allSettled([first, ...others]);
  await Promise.all(others);
  return first;
}

async function openBlob(path: string): Promise<FileHandle | 'missing' | 'link'> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'missing';
    if (codeOf(error) === 'ELOOP') return 'link';
    throw error;
  }
}

async function removeDamaged(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** False when the name is taken. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}
