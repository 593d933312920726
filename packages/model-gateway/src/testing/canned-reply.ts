/** One answer of the model server, as plain data. */
export interface CannedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Sizes in bytes of the pieces in which the body is written, used in turn and again; one piece without them. */
  readonly pieces?: readonly number[];
  /** After so many bytes of the body: the socket is reset, or the body ends as if it were whole, or nothing more comes. */
  readonly stop?: { readonly afterBytes: number; readonly how: 'reset' | 'end' | 'hang' };
}

/** An answer that is no stream, e.g. `httpError(429, {error: {message: 'slow down'}}, {'retry-after': '2'})`. */
export function httpError(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): CannedReply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  return { status, headers: { 'content-type': type, ...headers }, body: text };
}

/** A stream of events: an object becomes a `data:` line, a text stands as it is. */
export function eventStream(events: readonly (object | string)[]): CannedReply {
  const body = events
    .map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`))
    .join('');
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
}

/** Writes the body in pieces of these sizes: they split lines and characters wherever they fall. */
export function chunked(reply: CannedReply, ...sizes: readonly number[]): CannedReply {
  return { ...reply, pieces: sizes };
}

/** Resets the connection after so many bytes of the body; a negative number counts from its end. */
export function cutAfter(reply: CannedReply, bytes: number): CannedReply {
  return { ...reply, stop: { afterBytes: within(reply, bytes), how: 'reset' } };
}

/** Ends the body cleanly after so many bytes, as a proxy does that lost its upstream. */
export function endAfter(reply: CannedReply, bytes: number): CannedReply {
  return { ...reply, stop: { afterBytes: within(reply, bytes), how: 'end' } };
}

/** Keeps the connection open after so many bytes and sends nothing more; 0 sends not even the head. */
export function hangAfter(reply: CannedReply, bytes: number): CannedReply {
  return { ...reply, stop: { afterBytes: within(reply, bytes), how: 'hang' } };
}

function within({ body }: CannedReply, bytes: number): number {
  return bytes < 0 ? Math.max(0, Buffer.byteLength(body) + bytes) : bytes;
}
