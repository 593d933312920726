import type { FileHandle } from 'node:fs/promises';
import {
  MAX_RESULT_BYTES,
  toolError,
  type ArtifactAddress,
  type ArtifactPage,
  type ArtifactPageRequest,
} from '@agentd/contract';
import { formatArtifactUri } from './artifact-uri.ts';
import { Blobs, type OpenBlob } from './blobs.ts';
import { MAX_MANIFEST_BYTES, parseManifest } from './manifest.ts';
import { probableMediaType } from './media-type.ts';
import { afterLineFeeds, countLineFeeds } from './utf8.ts';

/** A larger limit counts as this one (ART-4). */
const MAX_PAGE_LINES = 2000;

const READ_BYTES = 64 * 1024;

/** Reads stored text by page; a page costs about its own size, wherever it lies (ART-4). */
export class PageReader {
  readonly #blobs: Blobs;

  constructor(folder: string) {
    this.#blobs = new Blobs(folder);
  }

  async page({ address, offset, limit }: ArtifactPageRequest, signal: AbortSignal): Promise<ArtifactPage> {
    const lines = checkedLines(offset, limit);
    const digest = address.stream === null ? address.digest : await this.#digestOfStream(address, signal);
    return this.#withBlob(digest, signal, (blob) => {
      if (!blob.index.isText) throw notText(address, blob);
      checkOffset(offset, blob.index.lineCount);
      return readLines(blob, { offset, lines }, signal);
    });
  }

  async #digestOfStream(address: ArtifactAddress, signal: AbortSignal): Promise<string> {
    const { digest, stream } = address;
    const streams = await this.#withBlob(digest, signal, async ({ file, index }) =>
      index.byteLength > MAX_MANIFEST_BYTES
        ? null
        : parseManifest((await readAt(file, 0, index.byteLength)).toString()),
    );
    const whole = formatArtifactUri({ digest, stream: null });
    if (streams === null) {
      throw toolError('artifact_uri', `${whole} has no named streams: leave out "/${stream}"`);
    }
    const found = streams.find(({ name }) => name === stream);
    if (found !== undefined) return found.sha256;
    const names = streams.map(({ name }) => name).join(', ');
    throw toolError(
      'artifact_uri',
      `${whole} declares no stream ${JSON.stringify(stream)}; it declares: ${names}`,
    );
  }

  async #withBlob<Result>(
    digest: string,
    signal: AbortSignal,
    use: (blob: OpenBlob) => Result | Promise<Result>,
  ): Promise<Result> {
    const blob = await this.#blobs.open(digest, signal);
    try {
      return await use(blob);
    } finally {
      await blob.file.close();
    }
  }
}

interface LineRange {
  readonly offset: number;
  readonly lines: number;
}

async function readLines(
  { file, index }: OpenBlob,
  { offset, lines }: LineRange,
  signal: AbortSignal,
): Promise<ArtifactPage> {
  const page = new PageText(offset, lines);
  const start = index.startBefore(offset);
  let toSkip = offset - start.line;
  let position = start.byte;
  while (position < index.byteLength && !page.isComplete) {
    signal.throwIfAborted();
    const block = await readAt(file, position, READ_BYTES);
    if (block.length === 0) break;
    const skipped = afterLineFeeds(block, 0, toSkip);
    toSkip -= skipped === -1 ? countLineFeeds(block) : toSkip;
    position += skipped === -1 ? block.length : skipped + page.add(block.subarray(skipped));
  }
  return { text: page.text, nextOffset: position < index.byteLength ? offset + lines : null };
}

/** The text of a page as it is read. */
class PageText {
  readonly #offset: number;
  readonly #lines: number;
  readonly #parts: Buffer[] = [];
  #wholeLines = 0;
  #byteLength = 0;

  constructor(offset: number, lines: number) {
    this.#offset = offset;
    this.#lines = lines;
  }

  get isComplete(): boolean {
    return this.#wholeLines === this.#lines;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString();
  }

  /** Returns how many bytes of the block belong to the page. Throws when the page is too large (OUT-20). */
  add(block: Buffer): number {
    const end = afterLineFeeds(block, 0, this.#lines - this.#wholeLines);
    const part = end === -1 ? block : block.subarray(0, end);
    this.#byteLength += part.length;
    if (this.#byteLength > MAX_RESULT_BYTES) throw this.#tooLarge();
    this.#wholeLines += countLineFeeds(part);
    this.#parts.push(part);
    return part.length;
  }

  #tooLarge(): Error {
    const page = `the page from line ${this.#offset} with limit ${this.#lines} is larger than 2 MiB`;
    const advice =
      this.#wholeLines === 0
        ? `line ${this.#offset} alone is, so no limit can help; go on with offset=${this.#offset + 1}`
        : `ask for a smaller limit, for example limit=${this.#wholeLines}`;
    return toolError('resource_limit', `${page}: ${advice}`);
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function checkedLines(offset: number, limit: number): number {
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw toolError('invalid_arguments', `offset must be a whole number of at least 0, not ${offset}`);
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw toolError('invalid_arguments', `limit must be a whole number of at least 1, not ${limit}`);
  }
  return Math.min(limit, MAX_PAGE_LINES);
}

/** The first page of an empty artifact is an empty page; any other page must begin with a line that is there (ART-4). */
function checkOffset(offset: number, lineCount: number): void {
  if (offset === 0 || offset < lineCount) return;
  const range = lineCount === 0 ? 'use offset=0' : `use an offset from 0 to ${lineCount - 1}`;
  throw toolError(
    'invalid_arguments',
    `offset ${offset} is past the end: the artifact has ${lineCount} lines; ${range}`,
  );
}

function notText(address: ArtifactAddress, { index }: OpenBlob): Error {
  const type = probableMediaType(index.firstBytes);
  return toolError(
    'not_supported',
    `${formatArtifactUri(address)} is no UTF-8 text but ${type} of ${index.byteLength} bytes, which cannot be paged`,
  );
}
