import { open, type FileHandle } from 'node:fs/promises';
import { pause, systemClock } from '@agentd/contract';

/** Watching files fails on some file systems; looking again costs one read of nothing. */
const LOOK_AGAIN_MS = 100;
const CHUNK_BYTES = 64 * 1024;

/** The whole lines of a growing file, without their ends, until the signal aborts. A line that is still being written waits. */
export async function* followLines(file: string, signal: AbortSignal): AsyncGenerator<string> {
  await using handle = await open(file, 'r');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  while (!signal.aborted) {
    const read = await readAt(handle, buffer, offset);
    offset += read.length;
    const { lines, unfinished } = splitLines(Buffer.concat([rest, read]));
    rest = unfinished;
    for (const line of lines) if (line !== '') yield line;
    if (read.length === 0) await pause(LOOK_AGAIN_MS, systemClock, signal).catch(() => undefined);
  }
}

async function readAt(handle: FileHandle, buffer: Buffer, offset: number): Promise<Buffer> {
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
  return buffer.subarray(0, bytesRead);
}

function splitLines(bytes: Buffer): { readonly lines: readonly string[]; readonly unfinished: Buffer } {
  const end = bytes.lastIndexOf(0x0a);
  if (end === -1) return { lines: [], unfinished: Buffer.from(bytes) };
  const lines = bytes.subarray(0, end).toString('utf8').split('\n');
  return { lines, unfinished: Buffer.from(bytes.subarray(end + 1)) };
}
