import {
  codeOf,
  isAgentdError,
  messageOf,
  toolError,
  type AgentdError,
  type ToolErrorCode,
} from '@agentd/contract';
import { bytesSource, type BlobBackend } from './blob-backend.ts';
import { indexBlob, type BlobIndex } from './blob-index.ts';

/** Indexes that are kept; the one unused for longest makes room. */
const MAX_INDEXES = 256;

/** How often a blob may change under our hands before we give up. */
const MAX_TRIES = 10;

/** A blob up to this size is held in memory once it changed under our hands: then nobody can disturb a second time. */
const MAX_HELD_BYTES = 2 * 1024 * 1024;

/** Faults of this moment and of this process, which say nothing about the blob. */
const PASSING_FAULTS: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

const CHANGING = 'it keeps changing';
const WRONG_CONTENT = 'its content is not that of its digest';

/** A blob whose content was found to be that of its name. */
export interface VerifiedBlob {
  readonly index: BlobIndex;
  /** Its bytes from `start` on; a chunk is valid until the next one is asked for. */
  readonly readFrom: (start: number) => AsyncIterable<Uint8Array>;
}

interface Verified {
  readonly version: string;
  readonly index: BlobIndex;
}

/** One reading of a blob, for all who wait for it; it stops when nobody does any more. */
interface Verification {
  readonly result: Promise<Verified>;
  readonly stop: AbortController;
  waiting: number;
  done: Verified | null;
}

/**
 * Blobs that are what their name says. Each is read and hashed once in a process, by whoever comes first, and again when
 * the backend has another version of it (ART-2).
 */
export class VerifiedBlobs {
  readonly #backend: BlobBackend;
  readonly #verifications = new Map<string, Verification>();

  constructor(backend: BlobBackend) {
    this.#backend = backend;
  }

  /**
   * What `use` makes of the blob; it is used again when another version took its place meanwhile.
   * Throws tool errors only, beside those of `use` and the signal's reason.
   */
  async use<Result>(
    digest: string,
    signal: AbortSignal,
    use: (blob: VerifiedBlob) => Result | Promise<Result>,
  ): Promise<Result> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      signal.throwIfAborted();
      const { version, index } = await this.#verified(digest, signal);
      const readFrom = (start: number): AsyncIterable<Uint8Array> =>
        this.#backend.get(digest, { start, end: index.byteLength });
      const [used] = await Promise.allSettled([(async () => use({ index, readFrom }))()]);
      signal.throwIfAborted();
      // What was read before this look is of this version, if the version is still the same.
      if ((await this.#versionOf(digest)) === version) {
        if (used.status === 'fulfilled') return used.value;
        throw asToolError(digest, used.reason);
      }
      this.forget(digest);
      if (index.byteLength <= MAX_HELD_BYTES) return use(await this.#held(digest, signal));
    }
    throw corrupt(digest, CHANGING);
  }

  /** Whether this version was verified before, so that `intactVersion` costs nothing. */
  isVerified(digest: string, version: string): boolean {
    return this.#verifications.get(digest)?.done?.version === version;
  }

  /**
   * The version that has the content of its name: this one, or another that took its place meanwhile, since others store
   * the same content too. Null where the content is another; throws for a fault that says nothing about that.
   */
  async intactVersion(digest: string, version: string): Promise<string | null> {
    if (!this.isVerified(digest, version)) this.forget(digest);
    try {
      return (await this.#verified(digest)).version;
    } catch (error) {
      if (codeOf(error) === 'artifact_corrupt' || codeOf(error) === 'artifact_missing') return null;
      throw error;
    }
  }

  /** Nothing but its time was changed, by ourselves: what was verified stays so. */
  refreshed(digest: string, before: string, after: string): void {
    const known = this.#verifications.get(digest)?.done ?? null;
    if (known === null || known.version !== before) return;
    const done = { version: after, index: known.index };
    this.#verifications.set(digest, {
      result: Promise.resolve(done),
      stop: new AbortController(),
      waiting: 0,
      done,
    });
  }

  /** Whoever comes next verifies anew: what is being read is another blob than it was. */
  forget(digest: string): void {
    this.#verifications.delete(digest);
  }

  /** One reader's abort does not take the verification from the others. */
  async #verified(digest: string, signal?: AbortSignal): Promise<Verified> {
    const verification = this.#verifications.get(digest) ?? this.#begin(digest);
    this.#verifications.delete(digest);
    this.#verifications.set(digest, verification);
    const [oldest] = this.#verifications.keys();
    if (this.#verifications.size > MAX_INDEXES && oldest !== undefined) this.forget(oldest);
    verification.waiting += 1;
    try {
      const { result } = verification;
      return await (signal === undefined ? result : orAbort(result, signal));
    } finally {
      verification.waiting -= 1;
      if (verification.waiting === 0 && verification.done === null) {
        verification.stop.abort();
        this.#end(digest, verification);
      }
    }
  }

  #begin(digest: string): Verification {
    const stop = new AbortController();
    const verification: Verification = {
      result: this.#verify(digest, stop.signal).then(
        (done) => (verification.done = done),
        (error: unknown) => {
          this.#end(digest, verification);
          throw asToolError(digest, error);
        },
      ),
      stop,
      waiting: 0,
      done: null,
    };
    return verification;
  }

  /** Leaves another one alone that has taken its place. */
  #end(digest: string, verification: Verification): void {
    if (this.#verifications.get(digest) === verification) this.forget(digest);
  }

  async #verify(digest: string, signal: AbortSignal): Promise<Verified> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stat = await this.#backend.stat(digest);
      if (stat === null) throw missing(digest);
      const { version, byteLength } = stat;
      const index = await indexBlob(
        untilAborted(this.#backend.get(digest, { start: 0, end: byteLength }), signal),
      );
      if (index.sha256 === digest) return { version, index };
      // Where it was mended meanwhile, what was read may be what it was before, or both.
      if ((await this.#backend.stat(digest))?.version === version) throw corrupt(digest, WRONG_CONTENT);
    }
    throw corrupt(digest, CHANGING);
  }

  /**
   * The blob in memory, read at one go and verified as it is held. Whoever stores the same output meanwhile makes it young
   * again, so its version changes while its content does not; on a busy store that happens in every moment.
   */
  async #held(digest: string, signal: AbortSignal): Promise<VerifiedBlob> {
    try {
      const bytes = await this.#bytesOf(digest, signal);
      const index = await indexBlob(bytesSource(bytes).chunks());
      if (index.sha256 !== digest) throw corrupt(digest, WRONG_CONTENT);
      return { index, readFrom: (start) => bytesSource(bytes.subarray(start)).chunks() };
    } catch (error) {
      signal.throwIfAborted();
      throw asToolError(digest, error);
    }
  }

  async #bytesOf(digest: string, signal: AbortSignal): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    // One byte more tells a blob that has grown.
    for await (const chunk of this.#backend.get(digest, { start: 0, end: MAX_HELD_BYTES + 1 })) {
      signal.throwIfAborted();
      parts.push(Uint8Array.from(chunk));
    }
    return Buffer.concat(parts);
  }

  async #versionOf(digest: string): Promise<string | null> {
    try {
      return (await this.#backend.stat(digest))?.version ?? null;
    } catch (error) {
      throw asToolError(digest, error);
    }
  }
}

async function* untilAborted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}

/** All bytes of a blob. */
export async function wholeBlob({ index, readFrom }: VerifiedBlob, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(index.byteLength);
  let length = 0;
  for await (const chunk of readFrom(0)) {
    signal.throwIfAborted();
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes;
}

async function orAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function asToolError(digest: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return missing(digest);
  if (code === 'ARTIFACT_STORE_NO_BLOB') return corrupt(digest, messageOf(error));
  if (isAgentdError(error)) return error;
  if (!PASSING_FAULTS.has(code)) return corrupt(digest, code ?? messageOf(error));
  return toolError(
    'resource_limit',
    `artifact ${digest} cannot be read at the moment (${code}): try again later`,
  );
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
