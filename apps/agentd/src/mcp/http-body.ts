import type { IncomingMessage } from 'node:http';

/** As much as a line on stdio. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: 400 | 413; readonly message: string };

/** Reads a JSON body; rejects where the connection breaks. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BODY_BYTES)
      return { ok: false, status: 413, message: `a message has ${MAX_BODY_BYTES} bytes at most` };
    parts.push(part);
  }
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(parts).toString('utf8')) };
  } catch {
    return { ok: false, status: 400, message: 'the body is not JSON' };
  }
}
