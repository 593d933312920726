/** Ten times what the longest answers take as events; a server that sends more has gone wrong, and would fill the memory. */
export const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

/** A `fetch` whose answers end with an error behind `maxBytes`, whatever their status. */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  maxBytes: number = MAX_ANSWER_BYTES,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bound(maxBytes)), { status, statusText, headers });
  };
}

function bound(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes;
  return new TransformStream({
    transform: (chunk, controller) => {
      left -= chunk.length;
      if (left >= 0) controller.enqueue(chunk);
      else controller.error(Object.assign(new Error('the answer is too long'), { code: 'ANSWER_TOO_LONG' }));
    },
  });
}
