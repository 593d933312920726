import { constants, open } from 'node:fs/promises';

/** A file that only grows. */
export interface LogFile {
  /**
   * Appends. Contract: resolves once all of `data` is handed to the system; on a fault nothing of a line that was
   * written in part stays, where that is possible.
   */
  readonly append: (data: Uint8Array) => Promise<void>;
  /** Contract: resolves once everything appended before is on disk. */
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Opens a log for appending, 0600; `keep` cuts it to that many bytes first. */
export async function openLogFile(path: string, keep?: number): Promise<LogFile> {
  const handle = await open(path, FLAGS, 0o600);
  try {
    if (keep !== undefined) await handle.truncate(keep);
    let size = (await handle.stat()).size;
    return {
      append: async (data) => {
        let written = 0;
        try {
          while (written < data.length) {
            written += (await handle.write(data, written, data.length - written)).bytesWritten;
          }
          size += written;
        } catch (error) {
          await handle.truncate(size + wholeLines(data, written)).catch(() => undefined);
          throw error;
        }
      },
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function wholeLines(data: Uint8Array, written: number): number {
  return data.subarray(0, written).lastIndexOf(0x0a) + 1;
}
