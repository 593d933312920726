/** What a backend tells of a blob without reading it. */
export interface BlobStat {
  readonly byteLength: number;
  /** Milliseconds since the Unix epoch at which it was stored or refreshed last. */
  readonly modifiedMs: number;
  /** Another one whenever the content may be another: what was found out of one version holds for that version alone. */
  readonly version: string;
}

export interface BlobEntry extends BlobStat {
  readonly digest: string;
}

/** Bytes from `start` up to but not including `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Content that is complete and will not change any more. */
export interface BlobSource {
  readonly byteLength: number;
  /** From the beginning, as often as it is called. A chunk is valid until the next one is asked for. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
  /**
   * The file on this machine that holds exactly this content, where there is one. Its writer lets go of it and never
   * writes again, so a backend on the same file system links it instead of copying.
   */
  readonly file?: BlobFile;
}

export interface BlobFile {
  /** Absolute. */
  readonly path: string;
  /** Puts the content on the disk, with this time of modification in milliseconds. */
  readonly settle: (modifiedMs: number) => Promise<void>;
}

/**
 * Keeps blobs under the SHA-256 of their content. It does not hash: the store does, before it puts and when it reads.
 * Whatever else lies beside the blobs is none of its business. Faults reject; a missing blob is a value.
 */
export interface BlobBackend {
  /**
   * Contract: stores the content where nothing has the name and resolves with true once it is durable; resolves with
   * false and changes nothing where something has. At every moment the name has the whole content or none.
   */
  readonly put: (digest: string, source: BlobSource) => Promise<boolean>;
  /**
   * Contract: stores the content in place of whatever has the name, damaged or not, and resolves once it is durable. At
   * no moment is the name of a blob without one. Readers of the former content may fail.
   */
  readonly replace: (digest: string, source: BlobSource) => Promise<void>;
  /** Contract: sets `modifiedMs` to now and resolves with what `stat` would then tell, once durable; null where no blob is. */
  readonly refresh: (digest: string) => Promise<BlobStat | null>;
  /**
   * Contract: yields the bytes of the range in order, fewer where the blob is shorter, in chunks of at most 1 MiB; a
   * chunk is valid until the next one is asked for. Rejects with code ENOENT where no blob is.
   */
  readonly get: (digest: string, range: ByteRange) => AsyncIterable<Uint8Array>;
  /** Contract: null where nothing has the name; rejects where what has it is no blob. */
  readonly stat: (digest: string) => Promise<BlobStat | null>;
  /** Contract: every blob that was there all the time, in any order. Other names are skipped. */
  readonly list: () => AsyncIterable<BlobEntry>;
  /** Contract: resolves once no blob has the name, whether or not one had. */
  readonly delete: (digest: string) => Promise<void>;
}

const DIGEST = /^[0-9a-f]{64}$/;

/** Whether the name is one that a blob can have. */
export function isDigest(name: string): boolean {
  return DIGEST.test(name);
}

/** Content in memory. The bytes must not change. */
export function bytesSource(bytes: Uint8Array): BlobSource {
  return {
    byteLength: bytes.length,
    chunks: async function* () {
      if (bytes.length > 0) yield bytes;
    },
  };
}
