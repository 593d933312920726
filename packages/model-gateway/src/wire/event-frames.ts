import { crc32 } from 'node:zlib';
import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';

/** Mends the JSON payload of one event. Returns undefined where there is nothing to mend. */
export type FrameRepair = (payload: JsonObject) => JsonObject | undefined;

export interface FramesRepair {
  /** Only frames with this text are parsed. */
  readonly marker: string;
  readonly repair: FrameRepair;
}

// A frame of AWS's event stream: total length, length of the headers, checksum of both, headers, payload, checksum of all.
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/** A frame that claims to be longer is none; from there on bytes pass as they come. */
const MAX_FRAME_BYTES = 24 * 1024 * 1024;

/** A `fetch` that mends events of AWS's binary stream on their way to the provider package (field I4). */
export function framesFetch(fetch: typeof globalThis.fetch, repair: FramesRepair): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(frameRepair(repair)), { status, statusText, headers });
  };
}

function frameRepair({ marker, repair }: FramesRepair): TransformStream<Uint8Array, Uint8Array> {
  let held = Buffer.alloc(0);
  let isLost = false;
  return new TransformStream({
    transform: (chunk, controller) => {
      held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
      for (let size = sizeOf(held); size !== undefined && !isLost; size = sizeOf(held)) {
        if (size < PRELUDE_BYTES + CHECKSUM_BYTES || size > MAX_FRAME_BYTES) isLost = true;
        else if (held.length < size) return;
        else {
          const frame = held.subarray(0, size);
          held = held.subarray(size);
          controller.enqueue(frame.includes(marker) ? mended(frame, repair) : frame);
        }
      }
      if (!isLost || held.length === 0) return;
      controller.enqueue(held);
      held = Buffer.alloc(0);
    },
    flush: (controller) => {
      if (held.length > 0) controller.enqueue(held);
    },
  });
}

function sizeOf(bytes: Buffer): number | undefined {
  return bytes.length < CHECKSUM_BYTES ? undefined : bytes.readUInt32BE(0);
}

function mended(frame: Buffer, repair: FrameRepair): Buffer {
  const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4);
  const payload = parse(frame.subarray(headersEnd, -CHECKSUM_BYTES).toString('utf8'));
  const changed = isJsonObject(payload) ? repair(payload) : undefined;
  if (changed === undefined) return frame;
  return eventFrame(frame.subarray(PRELUDE_BYTES, headersEnd), JSON.stringify(changed));
}

/** A whole frame with its checksums. */
export function eventFrame(headers: Uint8Array, payload: string): Buffer {
  const body = Buffer.from(payload, 'utf8');
  const size = PRELUDE_BYTES + headers.length + body.length + CHECKSUM_BYTES;
  const prelude = Buffer.alloc(PRELUDE_BYTES);
  prelude.writeUInt32BE(size, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const content = Buffer.concat([prelude, headers, body]);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(content), 0);
  return Buffer.concat([content, checksum]);
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not ours to judge: the package reports it.
    return undefined;
  }
}
