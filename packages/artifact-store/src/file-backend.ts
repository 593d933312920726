import { constants, lstatSync, type BigIntStats } from 'node:fs';
import { link, lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { codeOf, type Clock, type FileLocks, type Ids } from '@agentd/contract';
import {
  isDigest,
  type BlobBackend,
  type BlobEntry,
  type BlobFile,
  type BlobSource,
  type BlobStat,
  type ByteRange,
} from './blob-backend.ts';
import { storeError } from './errors.ts';
import { FolderSync } from './folder-sync.ts';
import { TemporaryFile } from './temporary-file.ts';

export interface FileBackendOptions {
  /** Absolute path of a folder on a local file system with hard links. It must exist before the first `put`. */
  readonly folder: string;
  readonly locks: FileLocks;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** A page is mostly in the first read; whoever goes on reads a lot. */
const FIRST_READ_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Looked at in one go: a look takes some 3 µs, a turn through the thread pool ten times that. */
const STATS_AT_ONCE = 256;

/**
 * One file a blob, mode 0600, named by its digest. A blob appears by one `link`, which never replaces, so publishers of
 * the same content in any number of processes find either nothing or the whole of it (ART-1, ART-10).
 */
export function fileBackend(options: FileBackendOptions): BlobBackend {
  return new FileBackend(options);
}

class FileBackend implements BlobBackend {
  readonly #options: FileBackendOptions;
  readonly #names: FolderSync;

  constructor(options: FileBackendOptions) {
    this.#options = options;
    this.#names = new FolderSync(options.folder);
  }

  readonly put = async (digest: string, source: BlobSource): Promise<boolean> => {
    const isNew = await this.#withFile(digest, source, ({ path }) => linked(path, this.#path(digest)));
    await this.#names.settle();
    return isNew;
  };

  readonly replace = async (digest: string, source: BlobSource): Promise<void> => {
    await this.#withFile(digest, source, async ({ path }) => {
      // Linked first, because the file may be somebody's who still needs it under its own name.
      const second = this.#temporaryPath(digest);
      await link(path, second);
      try {
        await this.#moveOver(second, digest);
      } finally {
        await removeIfThere(second); // Where both names were the same file, moving has left it.
      }
    });
    await this.#names.settle();
  };

  readonly refresh = async (digest: string): Promise<BlobStat | null> => {
    const file = await openIfThere(this.#path(digest));
    if (file === null) return null;
    try {
      const now = this.#options.clock.now() / 1000;
      await file.utimes(now, now);
      const stat = statOf(await file.stat({ bigint: true }));
      await this.#names.settle(); // The name may be another process's, and not on the disk yet.
      return stat;
    } finally {
      await file.close();
    }
  };

  readonly get = async function* (
    this: FileBackend,
    digest: string,
    { start, end }: ByteRange,
  ): AsyncGenerator<Uint8Array> {
    const file = await open(this.#path(digest), READ_FLAGS);
    try {
      if (!(await file.stat()).isFile()) throw noBlob();
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, Math.max(0, end - start)));
      for (let at = start; at < end;) {
        const wanted = Math.min(at === start ? FIRST_READ_BYTES : READ_BYTES, end - at);
        const { bytesRead } = await file.read(buffer, 0, wanted, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  };

  readonly stat = async (digest: string): Promise<BlobStat | null> => {
    try {
      return statOf(await lstat(this.#path(digest), { bigint: true }));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };

  readonly list = async function* (this: FileBackend): AsyncGenerator<BlobEntry> {
    const digests = (await namesIn(this.#options.folder)).filter(isDigest);
    for (const [index, digest] of digests.entries()) {
      if (index % STATS_AT_ONCE === 0) await setImmediate();
      const stat = lstatSync(this.#path(digest), { bigint: true, throwIfNoEntry: false });
      if (stat?.isFile() === true) yield { digest, ...statOf(stat) };
    }
  };

  readonly delete = (digest: string): Promise<void> => removeIfThere(this.#path(digest));

  #path(digest: string): string {
    return join(this.#options.folder, digest);
  }

  #temporaryPath(digest: string): string {
    return this.#path(`.${digest}.${this.#options.ids.uuid()}.tmp`);
  }

  /** Uses the content as a file on this file system, settled: the source's own where it has one here, else a copy. */
  async #withFile<Result>(
    digest: string,
    source: BlobSource,
    use: (file: BlobFile) => Promise<Result>,
  ): Promise<Result> {
    const { file } = source;
    if (file !== undefined) {
      await file.settle(this.#options.clock.now());
      try {
        return await use(file);
      } catch (error) {
        if (codeOf(error) !== 'EXDEV') throw error; // Another file system: then a copy is needed.
      }
    }
    const copy = await TemporaryFile.create(this.#temporaryPath(digest), this.#options.locks);
    try {
      await copy.writeAll(source.chunks());
      await copy.settle(this.#options.clock.now());
      return await use(copy);
    } finally {
      await copy.letGo();
    }
  }

  async #moveOver(path: string, digest: string): Promise<void> {
    try {
      await rename(path, this.#path(digest));
    } catch (error) {
      if (codeOf(error) !== 'EISDIR') throw error;
      // Somebody put a folder there. It is not ours to delete, so it steps aside.
      await rename(this.#path(digest), this.#path(`.damaged-${digest}.${this.#options.ids.uuid()}`));
      await rename(path, this.#path(digest));
    }
  }
}

function statOf(stat: BigIntStats): BlobStat {
  if (!stat.isFile()) throw noBlob();
  const { dev, ino, size, mtimeNs } = stat;
  return {
    byteLength: Number(size),
    modifiedMs: Math.round(Number(mtimeNs) / 1e6), // A time in seconds loses a fraction of a millisecond.
    version: [dev, ino, size, mtimeNs].join(':'),
  };
}

function noBlob(): Error {
  return storeError('ARTIFACT_STORE_NO_BLOB', 'it is no regular file');
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, READ_FLAGS);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
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

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
