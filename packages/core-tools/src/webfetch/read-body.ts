/** What was read of a body, with room before it. */
export interface BodyBytes {
  /** `room` unused bytes, then the body. */
  readonly bytes: Buffer;
  /** Whether there was more than the limit (WEB-13). */
  readonly truncated: boolean;
}

/**
 * Reads at most `limit` bytes into one buffer whose first `room` bytes stay free: a header that goes there makes one
 * text with the body, without another copy of it (WEB-16). Stops at the first byte past the limit.
 */
export async function readBody(
  content: AsyncIterable<Buffer>,
  { limit, room }: { readonly limit: number; readonly room: number },
): Promise<BodyBytes> {
  // Of its whole size at once: only the pages that are written to take memory, and nothing is copied to grow it.
  const buffer = Buffer.allocUnsafeSlow(room + limit);
  let end = room;
  for await (const chunk of content) {
    const { length } = chunk;
    const taken = chunk.copy(buffer, end);
    end += taken;
    release(chunk);
    if (taken < length) return { bytes: buffer, truncated: true };
  }
  return { bytes: buffer.subarray(0, end), truncated: false };
}

/**
 * Gives the memory of a chunk back at once. Left to the collector, the chunks of a fast connection stand for 64 MiB and
 * more before it looks (WEB-16). A chunk that is part of a larger buffer may share it, so it stays.
 */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
