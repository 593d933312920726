import type { FileHandle } from 'node:fs/promises';

/** How much is read at a time. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of an open file from `start` to its end, whatever its size says (FS-5). A chunk is good until the next one
 * is asked for: all share one buffer.
 */
export async function* chunksOf(
  handle: FileHandle,
  { start = 0, chunkBytes = CHUNK_BYTES }: { readonly start?: number; readonly chunkBytes?: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (let position = start; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The first bytes of an open file, up to 64 KiB. */
export async function headOf(handle: FileHandle): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
