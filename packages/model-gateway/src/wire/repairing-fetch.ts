import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';

/** Mends one event of a stream, or puts several in its place. Returns undefined where there is nothing to mend. */
export type EventRepair = (event: JsonObject) => JsonObject | readonly JsonObject[] | undefined;

export interface StreamRepair {
  /** Only lines with this text are parsed, so that the rest costs nothing. */
  readonly marker: string;
  /** A fresh repair for each response: it may keep state. */
  readonly repair: () => EventRepair;
}

/** A line longer than this passes unseen; nothing is held back beyond it. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

const LINE_FEED = 0x0a;
const DATA_PREFIX = /^data: ?/;

/** A `fetch` that mends server-sent events on their way to the provider package, which throws on them (field I4). */
export function repairingFetch(
  fetch: typeof globalThis.fetch,
  repair: StreamRepair,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(lineRepair(repair)), { status, statusText, headers });
  };
}

/** Passes bytes on line by line; a line may be split anywhere, in the middle of a character too. */
export function lineRepair({ marker, repair }: StreamRepair): TransformStream<Uint8Array, Uint8Array> {
  const mend = repair();
  const fix = (line: Buffer): Uint8Array => (line.includes(marker) ? mendLine(line, mend) : line);
  let held: Buffer[] = [];
  let heldBytes = 0;
  const release = (): Buffer => {
    const line = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    return line;
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
        held.push(rest.subarray(0, end + 1));
        rest = rest.subarray(end + 1);
        controller.enqueue(fix(release()));
      }
      if (rest.length === 0) return;
      held.push(rest);
      heldBytes += rest.length;
      if (heldBytes > MAX_LINE_BYTES) controller.enqueue(release());
    },
    flush: (controller) => {
      if (heldBytes > 0) controller.enqueue(fix(release()));
    },
  });
}

function mendLine(line: Buffer, mend: EventRepair): Uint8Array {
  const text = line.toString('utf8');
  if (!DATA_PREFIX.test(text)) return line;
  const event = parse(text.replace(DATA_PREFIX, ''));
  const mended = isJsonObject(event) ? mend(event) : undefined;
  if (mended === undefined) return line;
  const events = Array.isArray(mended) ? mended : [mended];
  return Buffer.from(events.map((one) => `data: ${JSON.stringify(one)}\n`).join('\n'));
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not ours to judge: the package reports it.
    return undefined;
  }
}
