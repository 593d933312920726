import { createHash } from 'node:crypto';
import { codeOf, type FileLock } from '@agentd/contract';
import { bytesSource, type BlobBackend, type BlobSource } from './blob-backend.ts';
import { storeError } from './errors.ts';
import { formatManifest } from './manifest.ts';
import type { PublicationGuard } from './publication-guard.ts';
import type { StoredStream, StreamCapture } from './stream-capture.ts';
import { encodeUtf8 } from './utf8.ts';
import type { VerifiedBlobs } from './verified-blobs.ts';

/** A blob that nobody has verified in this process is read again up to this size; beyond it, storing anew is cheaper. */
const MAX_REREAD_BYTES = 1024 * 1024;

/** How often a blob may come and go under our hands before we give up. */
const MAX_TRIES = 5;

export interface PublisherPorts {
  readonly backend: BlobBackend;
  readonly blobs: VerifiedBlobs;
  readonly guard: PublicationGuard;
}

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

/** Contents that are stored. */
export interface KeptContents {
  readonly digests: readonly string[];
  /** Keeps the janitor away from them (ART-10). */
  readonly guard: FileLock;
}

/**
 * Gives finished files their digest for a name.
 * No mutex is needed beside the guard: the backend stores a blob whole or not at all, and never two of one name.
 */
export class Publisher {
  readonly #ports: PublisherPorts;

  constructor(ports: PublisherPorts) {
    this.#ports = ports;
  }

  /** Publishes the streams of a call, and for named ones their manifest; on a fault the guard is free again. */
  async publish(streams: readonly PublishedStream[]): Promise<Published> {
    const guard = await this.#ports.guard.hold();
    try {
      const blobs = streams.map((stream) => this.#keep(stream.stored.sha256, sourceOf(stream)));
      // A manifest may come before its streams: nothing refers to it until all are there.
      const digest = await allDone(this.#digestOf(streams), blobs);
      return { digest, guard };
    } catch (error) {
      await guard.release();
      throw error;
    }
  }

  /** Stores whole contents under their digests, which stand in order (ART-16); on a fault the guard is free again. */
  async keepAll(contents: readonly Uint8Array[]): Promise<KeptContents> {
    const guard = await this.#ports.guard.hold();
    try {
      const digests: string[] = [];
      // One after the other: two of the same content must not race for one name.
      for (const bytes of contents) {
        const digest = createHash('sha256').update(bytes).digest('hex');
        await this.#keep(digest, bytesSource(bytes));
        digests.push(digest);
      }
      return { digests, guard };
    } catch (error) {
      await guard.release();
      throw error;
    }
  }

  async #digestOf(streams: readonly PublishedStream[]): Promise<string> {
    const [first] = streams;
    if (first?.capture.name === null) return first.stored.sha256;
    const named = streams.map(({ capture, stored }) => ({ name: capture.name ?? '', ...stored }));
    const bytes = encodeUtf8(formatManifest(named));
    const digest = createHash('sha256').update(bytes).digest('hex');
    await this.#keep(digest, bytesSource(bytes));
    return digest;
  }

  /** Sees to it that the content is there, new or as if it were new. What is there is not trusted unread (ART-2). */
  async #keep(digest: string, source: BlobSource): Promise<void> {
    const { backend, blobs } = this.#ports;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const version = await this.#intactVersion(digest, source.byteLength);
      if (version === 'damaged') {
        await backend.replace(digest, source);
        return blobs.forget(digest);
      }
      if (version === 'missing') {
        if (await backend.put(digest, source)) return;
        continue;
      }
      const refreshed = await backend.refresh(digest);
      if (refreshed !== null) return blobs.refreshed(digest, version.of, refreshed.version);
    }
    throw storeError('ARTIFACT_STORE_UNSTEADY', 'something else keeps changing the artifact store');
  }

  /** A blob too large to be read again counts as damaged, so that our own content takes its place at no cost. */
  async #intactVersion(
    digest: string,
    byteLength: number,
  ): Promise<{ readonly of: string } | 'missing' | 'damaged'> {
    const { backend, blobs } = this.#ports;
    try {
      const stat = await backend.stat(digest);
      if (stat === null) return 'missing';
      if (stat.byteLength !== byteLength) return 'damaged';
      const known = blobs.isVerified(digest, stat.version);
      if (!known && byteLength > MAX_REREAD_BYTES) return 'damaged';
      const intact = await blobs.intactVersion(digest, stat.version);
      return intact === null ? 'damaged' : { of: intact };
    } catch (error) {
      if (codeOf(error) === 'ARTIFACT_STORE_NO_BLOB') return 'damaged';
      throw error;
    }
  }
}

function sourceOf({ capture: { file }, stored: { byte_length } }: PublishedStream): BlobSource {
  if (file === null) throw storeError('ARTIFACT_STORE_FILE_CHANGED', 'a capture file is missing');
  return { byteLength: byte_length, chunks: () => file.chunks(), file };
}

/** Like `Promise.all`, but leaves nothing running behind when one fails. */
async function allDone<Value>(first: Promise<Value>, others: readonly Promise<void>[]): Promise<Value> {
  await Promise.allSettled([first, ...others]);
  await Promise.all(others);
  return first;
}
