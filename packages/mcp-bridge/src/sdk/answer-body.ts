import { mcpError } from '../errors.ts';
import { MAX_MESSAGE_BYTES, OVERSIZED_CODE } from '../stdio/stdio-transport.ts';

export interface AnswerTerms {
  /** The request that this answers; null for a stream that answers none. */
  readonly id: string | number | null;
  readonly isEventStream: boolean;
  /** `MAX_MESSAGE_BYTES` unless given. */
  readonly maxBytes?: number;
}

const CONNECTION_CLOSED = -32_000;
const EVENT_ID = /(?:^|\n)id:/;
const LOOKED_AT_FOR_ID = 4096;

/**
 * The body of an answer, as it comes, watched: the SDK would hold any amount of it, and says nothing to the request
 * when its stream breaks off (field H22). A stream of events that ends ends with an error for its request, which is
 * one too many where the answer was there; a server that numbers its events is asked again by the SDK.
 */
export function watchedBody(
  body: ReadableStream<Uint8Array>,
  terms: AnswerTerms,
): ReadableStream<Uint8Array> {
  return ReadableStream.from(terms.isEventStream ? watchedEvents(body, terms) : bounded(body, terms));
}

/** The beginning of a body that only tells what went wrong. */
export function cutBody(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  return ReadableStream.from(beginning(body, maxBytes));
}

async function* beginning(body: ReadableStream<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of body) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

async function* bounded(
  body: ReadableStream<Uint8Array>,
  { maxBytes = MAX_MESSAGE_BYTES }: AnswerTerms,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw mcpError('MCP_OVERSIZED', tooLarge(maxBytes));
    yield chunk;
  }
}

async function* watchedEvents(
  body: ReadableStream<Uint8Array>,
  { id, maxBytes = MAX_MESSAGE_BYTES }: AnswerTerms,
): AsyncGenerator<Uint8Array> {
  let [held, isResumable] = [0, false];
  try {
    for await (const chunk of body) {
      held = bytesOfOpenEvent(held, chunk);
      if (held > maxBytes) {
        yield* errorEvents(id, OVERSIZED_CODE, tooLarge(maxBytes));
        return;
      }
      isResumable ||= EVENT_ID.test(Buffer.from(chunk.subarray(0, LOOKED_AT_FOR_ID)).toString('latin1'));
      yield chunk;
    }
  } catch (error) {
    if (isResumable || id === null) throw error;
  }
  if (!isResumable) yield* errorEvents(id, CONNECTION_CLOSED, 'Connection closed');
}

function tooLarge(maxBytes: number): string {
  return `the answer is larger than ${maxBytes / 1024 / 1024} MiB`;
}

/**
 * The end of a request, where there is one. It begins with an empty line: what came before may have stopped in the middle
 * of an event.
 */
function errorEvents(id: AnswerTerms['id'], code: number, message: string): readonly Uint8Array[] {
  if (id === null) return [];
  const answer = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return [Buffer.from(`\n\nevent: message\ndata: ${answer}\n\n`)];
}

/** An empty line ends an event. */
function bytesOfOpenEvent(held: number, chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const end = Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'));
  return end === -1 ? held + chunk.length : chunk.length - end - 2;
}
