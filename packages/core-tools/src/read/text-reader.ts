import type { FileHandle } from 'node:fs/promises';
import { messageOf, toolError, type AgentdError, type JsonObject } from '@agentd/contract';
import { chunksOf, headOf } from '../target/chunks.ts';
import { shownPath } from '../target/file-failure.ts';
import { Utf8Stream, encodingOf, isNotText, markLength } from '../target/text-encoding.ts';
import { LineIndex, isSameVersion, versionOf } from './line-index.ts';
import { LineMap } from './line-map.ts';
import { framed, pageTooLarge, pastTheEnd, roomFor, type Page, type PageRequest } from './page-frame.ts';
import { isMediaThoughText, sniffedType } from './sniff.ts';
import { lineEndingOf, TextPager } from './text-pager.ts';

interface OpenFile {
  readonly handle: FileHandle;
  readonly path: string;
}

/** How a reader goes through a file; all in bytes. */
export interface ScanTuning {
  /** Read at a time; at least 4. */
  readonly chunkBytes: number;
  /** How far to look beyond a page, for the number of lines and for bytes that show the file to be no text. */
  readonly lookAheadBytes: number;
  /** Distance of the marks in a line index, and the size from which a file gets one. */
  readonly stepBytes: number;
  /** Milliseconds since the epoch, by the clock that stamps files. */
  readonly now: () => number;
}

const TUNING: ScanTuning = {
  chunkBytes: 256 * 1024,
  lookAheadBytes: 1024 * 1024,
  stepBytes: 256 * 1024,
  now: Date.now,
};

/** What one scan came to. */
interface Scan {
  readonly pager: TextPager;
  readonly map: LineMap;
  /** Why the file is no text, as far as it was looked at. */
  readonly problem: string | null;
}

/**
 * Pages of text files, in memory bounded by the page (FS-1, FS-2, FS-4, FS-5). It remembers where the lines of
 * unchanged files are, so that a later page of one does not scan from the start again (FS-14).
 */
export class TextReader {
  readonly #index: LineIndex;
  readonly #tuning: ScanTuning;

  constructor(tuning: ScanTuning = TUNING) {
    this.#tuning = tuning;
    this.#index = new LineIndex(tuning.stepBytes);
  }

  async page(file: OpenFile, request: PageRequest, signal: AbortSignal): Promise<Page> {
    const version = await versionOf(file.handle, this.#tuning.now);
    const known = this.#index.mapOf(version);
    const scan = await this.#scan(
      file,
      { request, map: known?.copy() ?? (await freshMap(file, this.#tuning)) },
      signal,
    );
    const isUnchanged = isSameVersion(version, await versionOf(file.handle, this.#tuning.now));
    if (isUnchanged) this.#index.keep(version, scan.map);
    // What the map told was true of a file that is no more: only a scan of all of it is.
    if (isUnchanged || known === null) return rendered(file, request, scan);
    const map = await freshMap(file, this.#tuning);
    return rendered(file, request, await this.#scan(file, { request, map }, signal));
  }

  async #scan(
    { handle, path }: OpenFile,
    { request, map }: { readonly request: PageRequest; readonly map: LineMap },
    signal: AbortSignal,
  ): Promise<Scan> {
    const mark = map.before(request.offset);
    const pager = new TextPager({ ...request, maxBytes: roomFor('file', path) }, mark?.progress);
    const isPast = map.totalLines !== null && request.offset >= map.totalLines;
    if (isPast) return { pager, map, problem: null };
    const stream = new Utf8Stream(map.encoding, mark?.position);
    try {
      await this.#fill(handle, { pager, map, stream }, signal);
      return { pager, map, problem: null };
    } catch (error) {
      if (!isNotText(error)) throw error;
      return { pager, map, problem: messageOf(error) };
    }
  }

  async #fill(
    handle: FileHandle,
    { pager, map, stream }: { readonly pager: TextPager; readonly map: LineMap; readonly stream: Utf8Stream },
    signal: AbortSignal,
  ): Promise<void> {
    const { chunkBytes, lookAheadBytes } = this.#tuning;
    let pageEnd: number | null = null;
    for await (const chunk of chunksOf(handle, { start: stream.position, chunkBytes }, signal)) {
      pager.push(stream.push(chunk));
      if (pager.isTooLarge) return;
      map.see({ position: stream.position, progress: pager.progress });
      if (!pager.hasMore) continue;
      pageEnd ??= stream.position;
      // What an earlier scan has looked at is not looked at again.
      if (map.totalLines !== null || map.scannedBytes - pageEnd >= lookAheadBytes) return;
    }
    stream.end();
    pager.end();
    map.seeEnd({ position: stream.position, progress: pager.progress });
  }
}

/** What is known of a file before its first scan. Throws for media that could pass for text. */
async function freshMap(file: OpenFile, { stepBytes }: ScanTuning): Promise<LineMap> {
  const head = await headOf(file.handle);
  if (isMediaThoughText(head)) throw await refusal(file, 'read does not show media yet');
  return new LineMap(encodingOf(head), stepBytes);
}

async function rendered(file: OpenFile, request: PageRequest, { pager, map, problem }: Scan): Promise<Page> {
  if (problem !== null) throw await refusal(file, problem);
  if (pager.isTooLarge) throw tooLarge(file.path, request.offset, pager.lines.length);
  const { encoding, progress, totalLines } = map;
  const { offset } = request;
  if (offset > 0 && totalLines !== null && offset >= totalLines) {
    throw pastTheEnd(file.path, offset, { count: totalLines, what: 'lines' });
  }
  const lineEnding = progress === null ? undefined : lineEndingOf(progress);
  const metadata: JsonObject = {
    kind: 'text',
    ...request,
    ...(totalLines !== null && { total_lines: totalLines }),
    ...(pager.hasMore && { next_offset: offset + request.limit }),
    ...(encoding !== 'utf-8' && { encoding }),
    ...(lineEnding !== undefined && { line_ending: lineEnding }),
  };
  const text = framed('file', file.path, pager.lines);
  return { text: totalLines === 0 ? `${text}\nempty, ${markLength(encoding)} bytes` : text, metadata };
}

function tooLarge(path: string, offset: number, fitting: number): AgentdError {
  if (fitting > 0) return pageTooLarge(fitting);
  const line = offset + 1;
  const target = shownPath(path);
  return toolError(
    'resource_limit',
    `line ${line} alone is over the limit of 2 MiB and is never cut, so no smaller limit helps; look at a part of it with bash: sed -n '${line}p' ${JSON.stringify(target)} | cut -c 1-2000`,
  );
}

async function refusal({ handle, path }: OpenFile, problem: string): Promise<AgentdError> {
  const { size } = await handle.stat();
  const type = sniffedType(await headOf(handle));
  return toolError(
    'not_supported',
    `${shownPath(path)} is not text but ${type} (${size} bytes): ${problem}. Look at it with bash, e.g. file, xxd | head, or iconv for another encoding.`,
  );
}
