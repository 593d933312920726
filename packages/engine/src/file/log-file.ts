import { constants, open, type FileHandle } from 'node:fs/promises';
import type { FileLock } from '@agentd/contract';
import type { LogTail } from '../session-log-parser.ts';

/** A file that only grows. */
export interface LogFile {
  /**
   * Appends. Contract: resolves once all of `data` is handed to the system; on a fault nothing of a line that was
   * written in part stays, where that is possible.
   */
  readonly append: (data: Uint8Array) => Promise<void>;
  /** Contract: resolves once everything appended before is on disk, in a file that still has a name. */
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export interface LogOpening {
  /** What the log's reader found; it is mended. */
  readonly tail?: LogTail | null;
  /** The log's own lock: it goes with the file. */
  readonly lock?: FileLock | null;
}

/** Opens a log for appending, 0600. Where that fails the lock is the caller's still. */
export async function openLogFile(
  path: string,
  { tail = null, lock = null }: LogOpening = {},
): Promise<LogFile> {
  const handle = await open(path, FLAGS, 0o600);
  try {
    // An event that lacks only its line end gets it now: the next one would spoil both.
    if (tail?.whole === true) await handle.write('\n');
    else if (tail !== null) await handle.truncate(tail.offset);
    const { size } = await handle.stat();
    const close = async (): Promise<void> => {
      try {
        await handle.close();
      } finally {
        await lock?.release();
      }
    };
    return { append: appendTo(handle, size), sync: () => syncNamed(handle), close };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What is written to a file that was deleted meanwhile nobody can read again: that must not be called durable. */
async function syncNamed(handle: FileHandle): Promise<void> {
  await handle.datasync();
  const { nlink } = await handle.stat();
  if (nlink === 0) throw new Error('the file was deleted or replaced while it was open');
}

function appendTo(handle: FileHandle, sizeAtFirst: number): LogFile['append'] {
  let size = sizeAtFirst;
  return async (data) => {
    let written = 0;
    try {
      while (written < data.length) {
        written += (await handle.write(data, written, data.length - written)).bytesWritten;
      }
    } catch (error) {
      await handle.truncate(size + wholeLines(data, written)).catch(() => undefined);
      throw error;
    }
    size += written;
  };
}

function wholeLines(data: Uint8Array, written: number): number {
  return data.subarray(0, written).lastIndexOf(0x0a) + 1;
}
