import { constants } from 'node:fs';
import { lstat, open, unlink, type FileHandle } from 'node:fs/promises';
import { codeOf, type FileLock, type FileLocks } from '@agentd/contract';
import { storeError } from './errors.ts';
import { HeadBytes } from './kept-bytes.ts';

/** Bytes that may wait for the disk, beside as many under way, before the writer has to wait (OUT-12). */
const MAX_QUEUED_BYTES = 512 * 1024;

const READ_BYTES = 256 * 1024;

const CREATE_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A file that is written once, from its start, and locked exclusively until it is let go (ART-11).
 * Whatever is queued while a write is under way goes to the disk in one write after it. Two buffers take turns, so that
 * gigabytes pass without garbage.
 */
export class TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly #lock: FileLock;
  #queued = new HeadBytes(Infinity);
  #underWay = new HeadBytes(Infinity);
  #writtenBytes = 0;
  /** Until nothing is queued. */
  #writing: Promise<void> | null = null;
  /** Until what is queued goes under way. */
  #batch: Promise<void> = Promise.resolve();
  #fault: unknown;
  #letGo: Promise<void> | undefined;

  constructor(handle: FileHandle, lock: FileLock) {
    this.path = lock.path;
    this.handle = handle;
    this.#lock = lock;
  }

  /** Creates and locks the file; rejects when it exists. */
  static async create(path: string, locks: FileLocks): Promise<TemporaryFile> {
    const handle = await open(path, CREATE_FLAGS, 0o600);
    try {
      return new TemporaryFile(handle, await lockOf(path, locks));
    } catch (error) {
      await handle.close();
      await removeFile(path);
      throw error;
    }
  }

  /**
   * Takes over a file that a dead process left: 'missing' where nothing has the name, 'held' where its writer lives or
   * somebody else has taken it over, be it a moment ago.
   */
  static async adopt(path: string, locks: FileLocks): Promise<TemporaryFile | 'missing' | 'held'> {
    const handle = await openIfThere(path);
    if (handle === null) return 'missing';
    try {
      const lock = await locks.tryExclusive(path);
      if (lock !== null && (await isNamed(handle, path))) return new TemporaryFile(handle, lock);
      // Whoever had it removed it before we had the lock, which then may have made an empty file of that name.
      if (lock !== null) await removeFile(path);
      await lock?.release();
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return 'held';
  }

  /** Whether the writer should await `room` before it writes on. */
  get isFull(): boolean {
    return this.#queued.bytes.length >= MAX_QUEUED_BYTES;
  }

  /** Queues a copy of the bytes. */
  write(bytes: Uint8Array): void {
    this.#queued.push(bytes);
    this.#writing ??= this.#writeQueued();
  }

  /** Resolves once there is room again; rejects with the first fault. */
  async room(): Promise<void> {
    while (this.isFull) await this.#batch;
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Resolves once the file holds what was written, as far as the operating system is concerned. */
  async seal(): Promise<void> {
    await this.#writing;
    if (this.#fault !== undefined) throw this.#fault;
    const { size } = await this.handle.stat();
    if (size !== this.#writtenBytes) {
      throw storeError(
        'ARTIFACT_STORE_FILE_CHANGED',
        `a capture file has ${size} bytes, not ${this.#writtenBytes}`,
      );
    }
  }

  /** Writes the chunks and seals. */
  async writeAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) {
      this.write(chunk);
      if (this.isFull) await this.room();
    }
    await this.seal();
  }

  /** Puts the content on the disk, with this time of modification in milliseconds. */
  readonly settle = async (modifiedMs: number): Promise<void> => {
    await this.handle.utimes(modifiedMs / 1000, modifiedMs / 1000);
    await this.handle.sync();
  };

  /** From the start to the end as it is then; a chunk is valid until the next one is asked for. */
  readonly chunks = async function* (this: TemporaryFile): AsyncGenerator<Uint8Array> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let position = 0; ;) {
      const { bytesRead } = await this.handle.read(buffer, 0, READ_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  };

  /** Takes `length` bytes that are there already for written, and cuts off what follows them. */
  async keep(length: number): Promise<void> {
    await this.handle.truncate(length);
    this.#writtenBytes = length;
  }

  /** Removes the file under its temporary name and frees the lock. Idempotent; what cannot be removed is swept later. */
  letGo(): Promise<void> {
    this.#letGo ??= this.#remove();
    return this.#letGo;
  }

  /** Frees the lock and leaves the file where it is. Nothing else may follow. */
  async leave(): Promise<void> {
    await Promise.allSettled([this.handle.close(), this.#lock.release()]);
  }

  async #writeQueued(): Promise<void> {
    while (this.#queued.bytes.length > 0) {
      [this.#queued, this.#underWay] = [this.#underWay, this.#queued];
      this.#batch = this.#writeUnderWay();
      await this.#batch;
    }
    this.#writing = null;
  }

  async #writeUnderWay(): Promise<void> {
    try {
      if (this.#fault === undefined) await this.#writeFully(this.#underWay.bytes);
    } catch (error) {
      this.#fault = error;
    }
    this.#underWay.truncate(0);
  }

  /** One write may take less than all of it, on a disk that is almost full. */
  async #writeFully(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.handle.write(bytes, done, bytes.length - done, this.#writtenBytes);
      done += bytesWritten;
      this.#writtenBytes += bytesWritten;
    }
  }

  async #remove(): Promise<void> {
    await this.#writing;
    await removeFile(this.path);
    await this.leave();
  }
}

async function lockOf(path: string, locks: FileLocks): Promise<FileLock> {
  const lock = await locks.tryExclusive(path);
  if (lock === null)
    throw storeError('ARTIFACT_STORE_FILE_CHANGED', 'somebody else locked a new capture file');
  return lock;
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** Whether the open file still has the name. As long as it is open, no other file can have its inode. */
async function isNamed(handle: FileHandle, path: string): Promise<boolean> {
  const { dev, ino } = await handle.stat({ bigint: true });
  try {
    const named = await lstat(path, { bigint: true });
    return named.dev === dev && named.ino === ino;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch {
    // It is gone, or the disk is at fault; what is left is swept at the next start (ART-11).
  }
}
