import {
  MAX_RESULT_BYTES,
  toolError,
  type ArtifactAddress,
  type ArtifactPage,
  type ArtifactPageRequest,
} from '@agentd/contract';
import { formatArtifactUri } from './artifact-uri.ts';
import { MAX_MANIFEST_BYTES, parseManifest } from './manifest.ts';
import { probableMediaType } from './media-type.ts';
import { afterLineFeeds, countLineFeeds } from './utf8.ts';
import type { VerifiedBlob, VerifiedBlobs } from './verified-blobs.ts';

/** A larger limit counts as this one (ART-4). */
const MAX_PAGE_LINES = 2000;

/** Reads stored text by page; a page costs about its own size, wherever it lies (ART-4). */
export class PageReader {
  readonly #blobs: VerifiedBlobs;

  constructor(blobs: VerifiedBlobs) {
    this.#blobs = blobs;
  }

  async page({ address, offset, limit }: ArtifactPageRequest, signal: AbortSignal): Promise<ArtifactPage> {
    const lines = checkedLines(offset, limit);
    const digest = address.stream === null ? address.digest : await this.#digestOfStream(address, signal);
    return this.#blobs.use(digest, signal, (blob) => {
      if (!blob.index.isText) throw notText(address, blob);
      checkOffset(offset, blob.index.lineCount);
      return readLines(blob, { offset, lines }, signal);
    });
  }

  async #digestOfStream(address: ArtifactAddress, signal: AbortSignal): Promise<string> {
    const { digest, stream } = address;
    const streams = await this.#blobs.use(digest, signal, async ({ index, readFrom }) =>
      index.byteLength > MAX_MANIFEST_BYTES ? null : parseManifest(await textOf(readFrom(0))),
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
}

interface LineRange {
  readonly offset: number;
  readonly lines: number;
}

async function readLines(
  { index, readFrom }: VerifiedBlob,
  { offset, lines }: LineRange,
  signal: AbortSignal,
): Promise<ArtifactPage> {
  const page = new PageText({ offset, lines }, index.lineCount);
  const start = index.startBefore(offset);
  let toSkip = offset - start.line;
  let position = start.byte;
  for await (const block of readFrom(start.byte)) {
    signal.throwIfAborted();
    const skipped = afterLineFeeds(block, 0, toSkip);
    toSkip -= skipped === -1 ? countLineFeeds(block) : toSkip;
    position += skipped === -1 ? block.length : skipped + page.add(block.subarray(skipped));
    if (page.isComplete) break;
  }
  return { text: page.text, nextOffset: position < index.byteLength ? offset + lines : null };
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Uint8Array.from(chunk));
  return Buffer.concat(parts).toString();
}

/** The text of a page as it is read. */
class PageText {
  readonly #offset: number;
  readonly #lines: number;
  /** Of the whole blob. */
  readonly #lineCount: number;
  readonly #parts: Uint8Array[] = [];
  #wholeLines = 0;
  #byteLength = 0;

  constructor({ offset, lines }: LineRange, lineCount: number) {
    this.#offset = offset;
    this.#lines = lines;
    this.#lineCount = lineCount;
  }

  get isComplete(): boolean {
    return this.#wholeLines === this.#lines;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString();
  }

  /** Returns how many bytes of the block belong to the page. Throws when the page is too large (OUT-20). */
  add(block: Uint8Array): number {
    const end = afterLineFeeds(block, 0, this.#lines - this.#wholeLines);
    const part = end === -1 ? block : block.subarray(0, end);
    const room = MAX_RESULT_BYTES - this.#byteLength;
    if (part.length > room) throw this.#tooLarge(this.#wholeLines + countLineFeeds(part.subarray(0, room)));
    this.#byteLength += part.length;
    this.#wholeLines += countLineFeeds(part);
    this.#parts.push(Uint8Array.from(part)); // The block is valid for this moment only.
    return part.length;
  }

  #tooLarge(fittingLines: number): Error {
    const page = `the page from line ${this.#offset} with limit ${this.#lines} is larger than 2 MiB`;
    const next = this.#offset + 1;
    const goOn = next < this.#lineCount ? `go on with offset=${next}` : 'it is the last line';
    const advice =
      fittingLines === 0
        ? `line ${this.#offset} alone is, so no limit can help; ${goOn}`
        : `ask for a smaller limit, for example limit=${fittingLines}`;
    return toolError('resource_limit', `${page}: ${advice}`);
  }
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

function notText(address: ArtifactAddress, { index }: VerifiedBlob): Error {
  const type = probableMediaType(index.firstBytes);
  return toolError(
    'not_supported',
    `${formatArtifactUri(address)} is no UTF-8 text but ${type} of ${index.byteLength} bytes, which cannot be paged`,
  );
}
