import { Buffer } from 'node:buffer';
import { codeOf, type ModelInfo, type ModelRequest, type PlacedMessage } from '@agentd/contract';
import { REFUSED, type MediaMemory } from './media-memory.ts';
import type { MediaPorts } from './media-ports.ts';

/** Messages whose media has its place, and the bytes of what is sent. */
export interface PlacedMedia {
  readonly messages: readonly PlacedMessage[];
  /** Base64 by SHA-256. Strings, because packages copy bytes more often (and Bedrock and Cohere slowly). */
  readonly files: ReadonlyMap<string, string>;
}

export interface PlaceSetup {
  readonly info: ModelInfo;
  readonly media: MediaPorts;
  readonly memory: MediaMemory;
}

/**
 * Puts the files of a history where the model's family takes them, and fetches their bytes, each once. A file that
 * cannot be had any more becomes a note: a history must not fail for good because of what it once held.
 */
export async function placeMedia(
  request: ModelRequest,
  { info, media: { placer, blobs }, memory }: PlaceSetup,
  signal: AbortSignal,
): Promise<PlacedMedia> {
  const files = new Map<string, string>();
  const before = (request.refusedFiles ?? []).map((sha256) => [sha256, REFUSED] as const);
  const withheld = new Map([...before, ...memory.refused]);
  memory.take(answeredFiles(request, info.id).filter((sha256) => !withheld.has(sha256)));
  const reservedBytes = sizeBeside(request);
  // Each round but the last fetches a file or gives one up; a note leaves room for an older file.
  for (;;) {
    const messages = placer.place(request.messages, info, { withheld, reservedBytes });
    const missing = new Set(digestsIn(messages).filter((sha256) => !files.has(sha256)));
    if (missing.size === 0) return { messages, files };
    for (const sha256 of missing) {
      try {
        files.set(sha256, base64Of(await blobs.blob(sha256, signal)));
      } catch (thrown) {
        signal.throwIfAborted();
        withheld.set(sha256, reasonFor(thrown));
      }
    }
  }
}

/** Files that stand before a turn of this model: a request with them was taken, be it by another process. */
function answeredFiles({ messages }: ModelRequest, model: string): readonly string[] {
  const last = messages.findLastIndex((message) => message.role === 'assistant' && message.model === model);
  return messages.slice(0, Math.max(0, last)).flatMap((message) => {
    if (message.role === 'assistant') return [];
    const files = message.role === 'user' ? [message] : message.content;
    return files.flatMap(({ attachments = [] }) => attachments.map(({ sha256 }) => sha256));
  });
}

function sizeBeside({ system, tools, messages }: ModelRequest): number {
  const hasFiles = messages.some((message) =>
    message.role === 'tool'
      ? message.content.some(({ attachments }) => attachments !== undefined)
      : message.role === 'user' && message.attachments !== undefined,
  );
  return hasFiles ? Buffer.byteLength(JSON.stringify([system, tools])) : 0;
}

function digestsIn(messages: readonly PlacedMessage[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return [];
    const parts = message.role === 'user' ? message.content : message.content.flatMap(({ media }) => media);
    return parts.flatMap((part) => (part.type === 'file' ? [part.attachment.sha256] : []));
  });
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** The same words in every later request, so that what a provider has cached stays good. */
function reasonFor(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code === 'artifact_missing') return 'its content was removed from the store';
  return code === 'artifact_corrupt' ? 'its stored content is damaged' : 'its stored content cannot be read';
}
