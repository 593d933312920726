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

/** What claims to be a longer frame is none, and what follows cannot be told apart any more. */
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
  const held = new HeldBytes();
  return new TransformStream({
    transform: (chunk, controller) => {
      held.add(chunk);
      for (let size = held.frameSize(); size !== undefined; size = held.frameSize()) {
        if (size < PRELUDE_BYTES + CHECKSUM_BYTES || size > MAX_FRAME_BYTES)
          return controller.error(noFrames());
        if (held.length < size) return undefined;
        const frame = held.take(size);
        controller.enqueue(frame.includes(marker) ? mended(frame, repair) : frame);
      }
      return undefined;
    },
    flush: (controller) => {
      if (held.length > 0) controller.enqueue(held.take(held.length));
    },
  });
}

function noFrames(): Error {
  return Object.assign(new Error('the answer is no stream of events'), { code: 'NO_EVENT_STREAM' });
}

/** Bytes that wait for the rest of their frame. They are put together once a frame, however small the pieces. */
class HeldBytes {
  #pieces: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    this.#pieces.push(Buffer.from(chunk));
    this.#length += chunk.length;
  }

  /** What the next frame says of its length; undefined where not even that is there. */
  frameSize(): number | undefined {
    if (this.#length < CHECKSUM_BYTES) return undefined;
    if ((this.#pieces[0]?.length ?? 0) < CHECKSUM_BYTES) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]?.readUInt32BE(0);
  }

  take(size: number): Buffer {
    const all = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    const taken = (all ?? Buffer.alloc(0)).subarray(0, size);
    const rest = (all ?? Buffer.alloc(0)).subarray(size);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length -= taken.length;
    return taken;
  }
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
