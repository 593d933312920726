import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstatSync, type BigIntStats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '@agentd/contract';
import type { BlobBackend, BlobEntry } from './blob-backend.ts';
import { mayHoldReferences, referencesIn } from './json-references.ts';
import { bytesToScan, isCurrent, scanLog, type LogRecord } from './log-scan.ts';
import type { ReferenceCache } from './reference-cache.ts';

/** Every log there is, each by its absolute path. Contract: rejects rather than leave one out. */
export type LogListing = () => AsyncIterable<string>;

/** A blob up to this size may be JSON that refers to others: a manifest, or the record of a compaction (ART-13). */
const MAX_NESTING_BYTES = 2 * 1024 * 1024;
/** The shortest JSON with a reference: the string alone, with its quotes. */
const MIN_NESTING_BYTES = 'artifact://sha256/""'.length + 64;

const STATS_AT_ONCE = 256;

/** What has to be read before it is known what is alive. */
export interface Survey {
  readonly changed: readonly string[];
  readonly bytes: number;
}

/** Finds out which blobs the logs refer to, directly or through blobs. Keeps the cache it is given up to date. */
export class LiveReferences {
  readonly #backend: BlobBackend;
  readonly #cache: ReferenceCache;
  /** Whether the cache holds more than it did. */
  hasLearned = false;

  constructor(backend: BlobBackend, cache: ReferenceCache) {
    this.#backend = backend;
    this.#cache = cache;
  }

  /** Looks at every log from outside; forgets those that are gone. */
  async survey(logs: LogListing, signal: AbortSignal): Promise<Survey> {
    const gone = new Set(this.#cache.logs.keys());
    const changed: string[] = [];
    let bytes = 0;
    let seen = 0;
    for await (const path of logs()) {
      seen += 1;
      if (seen % STATS_AT_ONCE === 0) await setImmediate();
      signal.throwIfAborted();
      const stat = statOf(path);
      if (stat === null) continue;
      gone.delete(path);
      const record = this.#cache.logs.get(path);
      if (record !== undefined && isCurrent(record, stat)) continue;
      changed.push(path);
      bytes += bytesToScan(record, stat);
    }
    for (const path of gone) this.#cache.logs.delete(path);
    this.hasLearned ||= gone.size > 0;
    return { changed, bytes };
  }

  async scan({ changed }: Survey, signal: AbortSignal): Promise<void> {
    for (const path of changed) {
      signal.throwIfAborted();
      const record = await scanIfThere(path, this.#cache.logs.get(path));
      this.hasLearned = true;
      if (record === null) this.#cache.logs.delete(path);
      else this.#cache.logs.set(path, record);
    }
  }

  /** All digests that are alive, whether they are in the store or not. */
  async live(stored: ReadonlyMap<string, BlobEntry>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const live = new Set<string>();
    const waiting: string[] = [];
    const add = (references: readonly string[]): void => {
      for (const digest of references) {
        if (live.has(digest)) continue;
        live.add(digest);
        waiting.push(digest);
      }
    };
    for (const { references } of this.#cache.logs.values()) add(references);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const blob = stored.get(next);
      if (blob !== undefined) add(await this.#nestedIn(blob, signal));
    }
    this.#forgetBlobs(live);
    return live;
  }

  async #nestedIn(blob: BlobEntry, signal: AbortSignal): Promise<readonly string[]> {
    const { digest, byteLength } = blob;
    if (byteLength < MIN_NESTING_BYTES || byteLength > MAX_NESTING_BYTES) return [];
    const known = this.#cache.blobs.get(digest);
    if (known !== undefined) return known;
    signal.throwIfAborted();
    const bytes = await this.#bytesOf(blob);
    const found = mayHoldReferences(bytes) ? [...new Set(referencesIn(bytes.toString()))] : [];
    // Of damaged content nothing is remembered: the right one may come back under the same name.
    if (createHash('sha256').update(bytes).digest('hex') === digest) {
      this.#cache.blobs.set(digest, found);
      this.hasLearned = true;
    }
    return found;
  }

  async #bytesOf({ digest, byteLength }: BlobEntry): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    try {
      for await (const chunk of this.#backend.get(digest, { start: 0, end: byteLength })) {
        parts.push(Uint8Array.from(chunk));
      }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    return Buffer.concat(parts);
  }

  #forgetBlobs(live: ReadonlySet<string>): void {
    for (const digest of this.#cache.blobs.keys()) {
      if (!live.has(digest)) this.#cache.blobs.delete(digest);
    }
  }
}

function statOf(path: string): BigIntStats | null {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
}

/** Null when the log is gone: then so is what it referred to. */
async function scanIfThere(path: string, known: LogRecord | undefined): Promise<LogRecord | null> {
  try {
    return await scanLog(path, known);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
