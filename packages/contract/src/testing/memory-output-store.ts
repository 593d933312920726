import { createHash } from 'node:crypto';
import type { KeptFiles } from '../media.ts';
import type {
  CaptureRequest,
  CaptureResult,
  OutputCapture,
  OutputStore,
  RetainedStream,
  StreamName,
} from '../output.ts';
import { streamsOf } from '../output.ts';

/** An output store in memory that never cuts anything: for tests in which the store is not the point. */
export interface MemoryOutputStore extends OutputStore {
  /** Stored texts by digest. */
  readonly blobs: ReadonlyMap<string, string>;
  /** Stored files by digest. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Captures that were finished and whose guard was not let go yet. */
  readonly unreleased: () => number;
}

export function memoryOutputStore(): MemoryOutputStore {
  const blobs = new Map<string, string>();
  const files = new Map<string, Uint8Array>();
  const guards = new Set<object>();
  const put = (text: string): string => {
    const digest = createHash('sha256').update(text).digest('hex');
    blobs.set(digest, text);
    return digest;
  };
  const finish = (texts: ReadonlyMap<StreamName, string>, incomplete: boolean): CaptureResult => {
    const guard = {};
    guards.add(guard);
    const streams = [...texts].map(([name, text]) => retainedStream(name, text, put(text)));
    const [only] = streams;
    const digest = only?.name === null ? only.sha256 : put(JSON.stringify(streams));
    return {
      text: [...texts].map(([name, text]) => (name === null ? text : `[${name}]\n${text}`)).join('\n\n'),
      retained: { reference: { uri: `artifact://sha256/${digest}` }, incomplete, missing_bytes: 0, streams },
      release: async () => void guards.delete(guard),
    };
  };
  const capture = async ({ declaration }: CaptureRequest): Promise<OutputCapture> => {
    const texts = new Map<StreamName, string>(streamsOf(declaration).map((name) => [name, '']));
    return {
      accept: async (chunks) => {
        for (const { stream = null, text } of chunks) texts.set(stream, (texts.get(stream) ?? '') + text);
      },
      finish: async ({ incomplete }) => finish(texts, incomplete),
      discard: async () => texts.clear(),
    };
  };
  const keep = async (contents: readonly Uint8Array[]): Promise<KeptFiles> => {
    const guard = {};
    guards.add(guard);
    const kept = contents.map((bytes) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      files.set(sha256, Uint8Array.from(bytes));
      return { sha256, reference: { uri: `artifact://sha256/${sha256}` } };
    });
    return { files: kept, release: async () => void guards.delete(guard) };
  };
  return { blobs, files, capture, keep, recover: async () => null, unreleased: () => guards.size };
}

function retainedStream(name: StreamName, text: string, sha256: string): RetainedStream {
  const lines = text.split('\n');
  return {
    name,
    reference: { uri: `artifact://sha256/${sha256}` },
    sha256,
    byte_length: Buffer.byteLength(text),
    line_count: lines.at(-1) === '' ? lines.length - 1 : lines.length,
    truncated: false,
    next_offset: null,
  };
}
