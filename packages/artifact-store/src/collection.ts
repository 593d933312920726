import type { BlobEntry } from './blob-backend.ts';
import type { LogListing } from './live-references.ts';

export interface CollectionRequest {
  readonly logs: LogListing;
  /** Milliseconds for which a blob without references is kept after it was stored or refreshed; an hour when absent. */
  readonly graceMs?: number;
  /** Removes nothing, and tells what it would remove. */
  readonly dryRun?: boolean;
  /** Also tells of each blob. */
  readonly list?: boolean;
}

/** Why a blob was removed or kept. */
export type BlobFate =
  /** Nothing has referred to it for longer than the grace. */
  | 'removed'
  /** A log refers to it, or a blob that is kept for one. */
  | 'referenced'
  /** Nothing refers to it, but it is younger than the grace. */
  | 'recent'
  /** It should have been removed and could not be. */
  | 'undeletable';

export interface Tally {
  readonly count: number;
  readonly bytes: number;
}

export interface CollectedBlob {
  readonly digest: string;
  readonly byteLength: number;
  readonly fate: BlobFate;
}

/** What a pass of the janitor did. */
export type CollectionReport =
  | {
      readonly kind: 'collected';
      readonly dryRun: boolean;
      readonly tallies: Readonly<Record<BlobFate, Tally>>;
      /** Null unless it was asked for. */
      readonly blobs: readonly CollectedBlob[] | null;
    }
  /** Something is being published; nothing was looked at and nothing removed (ART-10). */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** It cannot be told what is alive, so nothing was removed. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface CollectionRule {
  readonly live: ReadonlySet<string>;
  readonly graceMs: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** What is to become of a blob (ART-9). One of the future is as young as one of this moment: the clock was set back. */
export function fateOf({ digest, modifiedMs }: BlobEntry, { live, graceMs, now }: CollectionRule): BlobFate {
  if (live.has(digest)) return 'referenced';
  return Math.max(0, now - modifiedMs) > graceMs ? 'removed' : 'recent';
}

export function talliesOf(blobs: Iterable<CollectedBlob>): Readonly<Record<BlobFate, Tally>> {
  const none = { count: 0, bytes: 0 };
  const tallies: Record<BlobFate, Tally> = {
    removed: none,
    referenced: none,
    recent: none,
    undeletable: none,
  };
  for (const { fate, byteLength } of blobs) {
    const { count, bytes } = tallies[fate];
    tallies[fate] = { count: count + 1, bytes: bytes + byteLength };
  }
  return tallies;
}
