import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { toolError } from '@agentd/contract';

const IDENTITY = new Set(['', 'identity', 'none']);

/** Larger than what Node cuts from a shared pool: each full chunk is a buffer of its own, which can be given back. */
const OPTIONS = { chunkSize: 64 * 1024 };

const DECODERS: Readonly<Record<string, (firstByte: number) => Transform>> = {
  gzip: () => createGunzip(OPTIONS),
  'x-gzip': () => createGunzip(OPTIONS),
  br: () => createBrotliDecompress(OPTIONS),
  zstd: () => createZstdDecompress(OPTIONS),
  // Servers send both what the name says, a zlib stream, and a bare deflate stream.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
};

/** More than two encodings serve nobody but a bomb. */
const MAX_ENCODINGS = 4;

/**
 * The content of a body (WEB-16). An empty body is empty content whatever encoding it claims.
 * Throws `transport_error` for an encoding that was not offered.
 */
export async function* decodeContent(body: Readable, header: string | undefined): AsyncGenerator<Buffer> {
  const encodings = (header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !IDENTITY.has(name));
  const unknown = encodings.find((name) => !Object.hasOwn(DECODERS, name));
  if (unknown !== undefined || encodings.length > MAX_ENCODINGS) {
    throw toolError(
      'transport_error',
      `the server sent a body encoded as ${JSON.stringify(header)}, which cannot be decoded`,
    );
  }
  let content: AsyncIterable<Buffer> = body;
  for (const name of encodings.toReversed()) content = decodeOne(content, name);
  yield* content;
}

async function* decodeOne(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]();
  let first = await iterator.next();
  while (first.done !== true && first.value.length === 0) first = await iterator.next();
  if (first.done === true) return;
  const { value } = first;
  const rest = async function* (): AsyncGenerator<Buffer> {
    yield value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  const decoder = DECODERS[name]?.(value[0] ?? 0) ?? new PassThrough();
  yield* pipeline(rest, decoder, () => undefined) as AsyncIterable<Buffer>;
}
