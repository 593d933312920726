import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import {
  codeOf,
  isAgentdError,
  messageOf,
  toolError,
  type AgentdError,
  type ToolErrorCode,
} from '@agentd/contract';
import { indexBlob, type BlobIndex } from './blob-index.ts';

/** Indexes that are kept; the one unused for longest makes room. */
const MAX_INDEXES = 256;

/** How often a blob may change under our hands before we give up. */
const MAX_TRIES = 3;

/** A blob whose content was found to be that of its name. */
export interface OpenBlob {
  readonly file: FileHandle;
  readonly index: BlobIndex;
}

interface Verified {
  /** Device, inode, size and modification time of the file that was read. */
  readonly identity: string;
  readonly index: BlobIndex;
}

/**
 * Opens blobs that are what their name says. Each is read and hashed once in a process, by whoever comes first, and
 * again when its inode, size or modification time is another (ART-2).
 */
export class Blobs {
  readonly #folder: string;
  readonly #verified = new Map<string, Promise<Verified>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The caller closes the file. Throws `artifact_missing` or `artifact_corrupt`. */
  async open(digest: string, signal: AbortSignal): Promise<OpenBlob> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { identity, index } = await orAbort(this.#verify(digest), signal);
      const file = await this.#openFile(digest);
      if ((await identityOf(file)) === identity) return { file, index };
      await file.close();
      this.#verified.delete(digest);
    }
    throw corrupt(digest, 'it keeps changing');
  }

  /** One reader's abort does not take the verification from the others, so it has a file of its own. */
  #verify(digest: string): Promise<Verified> {
    const running = this.#verified.get(digest) ?? this.#readAll(digest);
    this.#verified.delete(digest);
    this.#verified.set(digest, running);
    const [oldest] = this.#verified.keys();
    if (this.#verified.size > MAX_INDEXES && oldest !== undefined) this.#verified.delete(oldest);
    return running;
  }

  async #readAll(digest: string): Promise<Verified> {
    try {
      const file = await this.#openFile(digest);
      try {
        const identity = await identityOf(file);
        const index = await indexBlob(file);
        if (index.sha256 !== digest) throw corrupt(digest, 'its content is not that of its digest');
        return { identity, index };
      } finally {
        await file.close();
      }
    } catch (error) {
      this.#verified.delete(digest);
      throw isAgentdError(error) ? error : corrupt(digest, messageOf(error));
    }
  }

  async #openFile(digest: string): Promise<FileHandle> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    try {
      const file = await open(join(this.#folder, digest), flags);
      if ((await file.stat()).isFile()) return file;
      await file.close();
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') throw missing(digest);
      throw corrupt(digest, codeOf(error) ?? messageOf(error));
    }
    throw corrupt(digest, 'it is no regular file');
  }
}

async function identityOf(file: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs } = await file.stat({ bigint: true });
  return [dev, ino, size, mtimeNs].join(':');
}

async function orAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function missing(digest: string): AgentdError<ToolErrorCode> {
  return toolError(
    'artifact_missing',
    `no artifact ${digest} in this store: check the digest; if it is right, the artifact was removed, so produce the output again`,
  );
}

function corrupt(digest: string, reason: string): AgentdError<ToolErrorCode> {
  return toolError(
    'artifact_corrupt',
    `artifact ${digest} cannot be trusted: ${reason}; produce the output again`,
  );
}
