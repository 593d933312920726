import { codeOf, messageOf, type Clock, type FileLock } from '@agentd/contract';
import type { BlobBackend, BlobEntry } from './blob-backend.ts';
import {
  fateOf,
  talliesOf,
  type BlobFate,
  type CollectedBlob,
  type CollectionReport,
  type CollectionRequest,
} from './collection.ts';
import { LiveReferences } from './live-references.ts';
import type { PublicationGuard } from './publication-guard.ts';
import { loadReferenceCache, saveReferenceCache, type ReferenceCache } from './reference-cache.ts';

export interface JanitorPorts {
  /** Of the guard and the cache. */
  readonly folder: string;
  readonly backend: BlobBackend;
  readonly guard: PublicationGuard;
  readonly clock: Clock;
}

const GRACE_MS = 60 * 60 * 1000;

/** Publications wait while this much is read under the guard: some tens of milliseconds. */
const MAX_GUARDED_BYTES = 32 * 1024 * 1024;

/** Logs may grow faster than they are read; after so many rounds the rest is read under the guard all the same. */
const MAX_ROUNDS = 3;

/** What one pass works with. */
interface Pass {
  readonly request: CollectionRequest;
  readonly cache: ReferenceCache;
  readonly references: LiveReferences;
  readonly signal: AbortSignal;
}

/**
 * Removes what nothing refers to.
 *   J1. Nothing is removed unless every log was read to its end while no publication was under way (ART-9, ART-10).
 *   J2. A log that cannot be read, or a blob that may refer to others and cannot, ends the pass with nothing removed.
 *   J3. The guard is never waited for, and held only to read what is new and to remove.
 *   J4. A blob younger than the grace stays; reading one makes it no younger (ART-12).
 *   J5. A pass reads what changed since the last one. The cache may be deleted or damaged at any time (ART-14).
 */
export class Janitor {
  readonly #ports: JanitorPorts;

  constructor(ports: JanitorPorts) {
    this.#ports = ports;
  }

  async collect(request: CollectionRequest, signal: AbortSignal): Promise<CollectionReport> {
    const { folder, backend } = this.#ports;
    const cache = await loadReferenceCache(folder);
    const references = new LiveReferences(backend, cache);
    const pass = { request, cache, references, signal };
    try {
      for (let round = 1; ; round += 1) {
        const report = await this.#underGuard(pass, round === MAX_ROUNDS);
        if (report !== null) return report;
        await this.#readAhead(pass);
      }
    } catch (error) {
      await this.#saveWhatWasLearned(pass);
      signal.throwIfAborted();
      return { kind: 'failed', reason: messageOf(error) };
    }
  }

  /** Null where too much has to be read first. */
  async #underGuard(pass: Pass, isLastRound: boolean): Promise<CollectionReport | null> {
    const guard = await this.#tryGuard();
    if (guard === 'missing') return this.#reportOf([], pass);
    if (guard === null) return { kind: 'skipped', reason: 'output is being published' };
    try {
      const { request, references, signal } = pass;
      const survey = await references.survey(request.logs, signal);
      if (survey.bytes > MAX_GUARDED_BYTES && !isLastRound) return null;
      await references.scan(survey, signal);
      const stored = await this.#stored();
      const live = await references.live(stored, signal);
      const rule = { live, graceMs: request.graceMs ?? GRACE_MS, now: this.#ports.clock.now() };
      const blobs: CollectedBlob[] = [];
      for (const blob of stored.values()) {
        const fate = await this.#carryOut(blob, fateOf(blob, rule), pass);
        blobs.push({ digest: blob.digest, byteLength: blob.byteLength, fate });
      }
      await this.#noteThePass(pass);
      return this.#reportOf(blobs, pass);
    } finally {
      await guard.release();
    }
  }

  /** Reads what is needed while publications go on; whatever changes meanwhile is read again under the guard. */
  async #readAhead({ request, references, signal }: Pass): Promise<void> {
    await references.scan(await references.survey(request.logs, signal), signal);
    await references.live(await this.#stored(), signal);
  }

  async #tryGuard(): Promise<FileLock | 'missing' | null> {
    try {
      return await this.#ports.guard.tryAlone();
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return 'missing'; // No store, so nothing in it.
      throw error;
    }
  }

  async #stored(): Promise<ReadonlyMap<string, BlobEntry>> {
    const stored = new Map<string, BlobEntry>();
    for await (const entry of this.#ports.backend.list()) stored.set(entry.digest, entry);
    return stored;
  }

  async #carryOut(blob: BlobEntry, fate: BlobFate, { request, signal }: Pass): Promise<BlobFate> {
    if (fate !== 'removed' || request.dryRun === true) return fate;
    signal.throwIfAborted();
    try {
      await this.#ports.backend.delete(blob.digest);
      return 'removed';
    } catch {
      return 'undeletable'; // The report says so; the next pass tries again.
    }
  }

  #reportOf(blobs: readonly CollectedBlob[], { request }: Pass): CollectionReport {
    return {
      kind: 'collected',
      dryRun: request.dryRun === true,
      tallies: talliesOf(blobs),
      blobs: request.list === true ? blobs : null,
    };
  }

  async #noteThePass({ references, cache }: Pass): Promise<void> {
    if (references.hasLearned) await saveReferenceCache(this.#ports.folder, cache);
  }

  /** A pass that was stopped has not read in vain. */
  async #saveWhatWasLearned({ references, cache }: Pass): Promise<void> {
    if (!references.hasLearned) return;
    const guard = await this.#tryGuard().catch(() => null);
    if (guard === null || guard === 'missing') return;
    await saveReferenceCache(this.#ports.folder, cache);
    await guard.release();
  }
}
