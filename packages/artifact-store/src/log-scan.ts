import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { storeError } from './errors.ts';
import { mayHoldReferences, referencesIn } from './json-references.ts';

/** What is known of a log. As long as it only grows, its beginning is never read again. */
export interface LogRecord {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
  readonly size: number;
  readonly mtimeNs: string;
  /** The end of the last line that was read to its LF. */
  readonly offset: number;
  /** A hash of the bytes before the offset: tells a log that grew from one that was written anew. */
  readonly fence: string;
  /** Digests, each once. */
  readonly references: readonly string[];
}

const READ_BYTES = 256 * 1024;
const FENCE_BYTES = 256;
const LINE_FEED = 0x0a;

/** No event is nearly as long. Were such a line skipped, what it refers to would be lost. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Whether the record still tells what is in the log. */
export function isCurrent(record: LogRecord, stat: BigIntStats): boolean {
  return (
    record.identity === identityOf(stat) &&
    record.size === Number(stat.size) &&
    record.mtimeNs === String(stat.mtimeNs)
  );
}

/** Bytes that `scanLog` has to read, as far as a look from outside tells. */
export function bytesToScan(record: LogRecord | undefined, stat: BigIntStats): number {
  const size = Number(stat.size);
  const grew = record !== undefined && record.identity === identityOf(stat) && record.size <= size;
  return grew ? size - record.offset : size;
}

/**
 * Reads a log for references, from where the record ends if it is the same log that has only grown.
 * Torn and malformed lines are skipped; a last line without LF counts when it is whole (ART-9). Rejects when the log
 * cannot be read: nothing may be collected then.
 */
export async function scanLog(path: string, known: LogRecord | undefined): Promise<LogRecord> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw storeError('ARTIFACT_STORE_LOGS', `${path} is no regular file`);
    const size = Number(stat.size);
    const start = (await isContinued(file, known, stat)) ? known : undefined;
    const lines = new LogLines(path, start);
    for (let position = lines.offset; position < size;) {
      const block = Buffer.allocUnsafe(Math.min(READ_BYTES, size - position));
      const { bytesRead } = await file.read(block, 0, block.length, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      lines.add(block.subarray(0, bytesRead));
    }
    const { offset, references } = lines.finish();
    const fence = await fenceAt(file, offset);
    return {
      path,
      identity: identityOf(stat),
      size,
      mtimeNs: String(stat.mtimeNs),
      offset,
      fence,
      references,
    };
  } finally {
    await file.close();
  }
}

async function isContinued(
  file: FileHandle,
  known: LogRecord | undefined,
  stat: BigIntStats,
): Promise<boolean> {
  if (known === undefined || known.identity !== identityOf(stat)) return false;
  if (known.size > Number(stat.size) || BigInt(known.mtimeNs) > stat.mtimeNs) return false;
  return (await fenceAt(file, known.offset)) === known.fence;
}

async function fenceAt(file: FileHandle, offset: number): Promise<string> {
  const length = Math.min(FENCE_BYTES, offset);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset - length);
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('base64url');
}

/** The lines of a log as its blocks come in. */
class LogLines {
  readonly #path: string;
  readonly #references: Set<string>;
  #begun: Buffer[] = [];
  #begunBytes = 0;
  offset: number;

  constructor(path: string, start: LogRecord | undefined) {
    this.#path = path;
    this.offset = start?.offset ?? 0;
    this.#references = new Set(start?.references);
  }

  add(block: Buffer): void {
    const end = block.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      this.#addLines(Buffer.concat([...this.#begun, block.subarray(0, end)]));
      this.#begun = [];
      this.#begunBytes = 0;
    }
    const rest = block.subarray(end);
    this.#begun.push(rest);
    this.#begunBytes += rest.length;
    if (this.#begunBytes > MAX_LINE_BYTES) {
      throw storeError('ARTIFACT_STORE_LOGS', `${this.#path} has a line of more than 64 MiB`);
    }
  }

  finish(): Pick<LogRecord, 'offset' | 'references'> {
    // It will be read again with what follows it; until then it may be all that refers to something.
    this.#addReferences(Buffer.concat(this.#begun));
    return { offset: this.offset, references: [...this.#references] };
  }

  #addLines(lines: Buffer): void {
    this.offset += lines.length;
    if (!mayHoldReferences(lines)) return;
    for (let start = 0; start < lines.length;) {
      const end = lines.indexOf(LINE_FEED, start);
      this.#addReferences(lines.subarray(start, end));
      start = end + 1;
    }
  }

  #addReferences(line: Buffer): void {
    if (!mayHoldReferences(line)) return;
    for (const digest of referencesIn(line.toString())) this.#references.add(digest);
  }
}
