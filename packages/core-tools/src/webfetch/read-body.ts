/** What was read of a body. */
export interface BodyBytes {
  /** `room` unused bytes, then the body. */
  readonly bytes: Buffer;
  /** Whether there was more than the limit. */
  readonly truncated: boolean;
}

const FIRST_SIZE = 64 * 1024;

/**
 * Reads at most `limit` bytes into one buffer that has `room` bytes free at its start, so that a header can go there
 * without a second copy of the body (WEB-13, WEB-16). Stops reading at the first byte past the limit.
 */
export async function readBody(
  content: AsyncIterable<Buffer>,
  { limit, room }: { readonly limit: number; readonly room: number },
): Promise<BodyBytes> {
  let buffer: Buffer = Buffer.allocUnsafeSlow(room + Math.min(limit, FIRST_SIZE));
  let end = room;
  for await (const chunk of content) {
    const taken = chunk.subarray(0, room + limit - end);
    buffer = grown(buffer, { used: end, needed: end + taken.length, most: room + limit });
    end += taken.copy(buffer, end);
    if (taken.length < chunk.length) return { bytes: buffer.subarray(0, end), truncated: true };
  }
  return { bytes: buffer.subarray(0, end), truncated: false };
}

function grown(
  buffer: Buffer,
  { used, needed, most }: { readonly used: number; readonly needed: number; readonly most: number },
): Buffer {
  if (needed <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.min(most, Math.max(needed, buffer.length * 2)));
  buffer.copy(larger, 0, 0, used);
  return larger;
}
