import type { FileHandle } from 'node:fs/promises';
import type { LineMap } from './line-map.ts';

/** A file and what tells that its bytes changed. */
export interface FileVersion {
  /** Device and inode. */
  readonly file: string;
  /** Size and times, to the nanosecond. */
  readonly stamp: string;
  /** Whether a change from now on is sure to get another stamp. */
  readonly isSettled: boolean;
  readonly bytes: number;
}

/** File systems count time in ticks of up to 2 s: a file can change within one and keep its stamp. */
const SETTLE_MS = 2000;

const MAX_FILES = 64;
const MAX_MARKS = 16_384;

/** The version of an open file; `now` in milliseconds since the epoch. */
export async function versionOf(handle: FileHandle, now: () => number): Promise<FileVersion> {
  // Before the look: what changes after it is then later than `at`.
  const at = now();
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  const latest = Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
  return {
    file: `${dev}:${ino}`,
    stamp: `${size}:${mtimeNs}:${ctimeNs}`,
    isSettled: at - latest > SETTLE_MS,
    bytes: Number(size),
  };
}

export function isSameVersion(one: FileVersion, other: FileVersion): boolean {
  return one.file === other.file && one.stamp === other.stamp;
}

/**
 * Line maps of unchanged files (FS-14).
 *   I1. A map is handed out only for the version it was made of; any other version drops it.
 *   I2. Nothing is kept of a file that could still change unseen, nor of one whose size tells nothing (`/proc`, `/sys`).
 *   I3. At most 64 files and 16,384 marks are kept; the file that was not asked for longest goes first.
 */
export class LineIndex {
  readonly #kept = new Map<string, { readonly stamp: string; readonly map: LineMap }>();
  readonly #minBytes: number;

  /** Smaller files than `minBytes` are not worth it. */
  constructor(minBytes: number) {
    this.#minBytes = minBytes;
  }

  mapOf({ file, stamp }: FileVersion): LineMap | null {
    const known = this.#kept.get(file);
    if (known === undefined) return null;
    this.#kept.delete(file);
    if (known.stamp !== stamp) return null;
    this.#kept.set(file, known);
    return known.map;
  }

  /** Keeps `map`, unless another call has seen more of the same version meanwhile. */
  keep({ file, stamp, isSettled, bytes }: FileVersion, map: LineMap): void {
    if (!isSettled || bytes < this.#minBytes) return;
    const known = this.#kept.get(file);
    if (known?.stamp === stamp && known.map.scannedBytes > map.scannedBytes) return;
    this.#kept.delete(file);
    this.#kept.set(file, { stamp, map });
    this.#evict();
  }

  get files(): number {
    return this.#kept.size;
  }

  #evict(): void {
    let marks = 0;
    for (const { map } of this.#kept.values()) marks += map.size;
    for (const [file, { map }] of this.#kept) {
      if (this.#kept.size <= MAX_FILES && marks <= MAX_MARKS) return;
      marks -= map.size;
      this.#kept.delete(file);
    }
  }
}
