import type { FileHandle } from 'node:fs/promises';
import { messageOf, toolError, type AgentdError, type JsonObject } from '@agentd/contract';
import { chunksOf, headOf } from '../target/chunks.ts';
import { shownPath } from '../target/file-failure.ts';
import { Utf8Stream, encodingOf, isNotText, markLength, type TextEncoding } from '../target/text-encoding.ts';
import { framed, pageTooLarge, pastTheEnd, roomFor, type Page, type PageRequest } from './page-frame.ts';
import { isMediaThoughText, sniffedType } from './sniff.ts';
import { TextPager } from './text-pager.ts';

/** How far to look beyond a page, for the number of lines and for bytes that show the file to be no text. */
const LOOK_AHEAD_BYTES = 1024 * 1024;

interface OpenFile {
  readonly handle: FileHandle;
  readonly path: string;
}

interface Scan {
  readonly pager: TextPager;
  readonly encoding: TextEncoding;
  /** Bytes seen. */
  readonly bytes: number;
  /** Whether these were all of the file. */
  readonly whole: boolean;
}

/** One page of an open text file, in memory bounded by the page (FS-1, FS-2, FS-4, FS-5). */
export async function textPage(file: OpenFile, request: PageRequest, signal: AbortSignal): Promise<Page> {
  const head = await headOf(file.handle);
  if (isMediaThoughText(head)) throw await refusal(file, head, 'read does not show media yet');
  const pager = new TextPager({ ...request, maxBytes: roomFor('file', file.path) });
  try {
    return pageOf(file.path, request, await scan(file.handle, { pager, encoding: encodingOf(head) }, signal));
  } catch (error) {
    throw isNotText(error) ? await refusal(file, head, messageOf(error)) : error;
  }
}

async function scan(
  handle: FileHandle,
  { pager, encoding }: Pick<Scan, 'pager' | 'encoding'>,
  signal: AbortSignal,
): Promise<Scan> {
  const stream = new Utf8Stream(encoding);
  let bytes = markLength(encoding);
  let beyond = 0;
  for await (const chunk of chunksOf(handle, bytes, signal)) {
    bytes += chunk.length;
    pager.push(stream.push(chunk));
    if (pager.hasMore) beyond += chunk.length;
    if (pager.isTooLarge || beyond > LOOK_AHEAD_BYTES) return { pager, encoding, bytes, whole: false };
  }
  stream.end();
  pager.end();
  return { pager, encoding, bytes, whole: true };
}

function pageOf(path: string, request: PageRequest, { pager, encoding, bytes, whole }: Scan): Page {
  const { seenLines: count, lineEnding } = pager;
  if (pager.isTooLarge) throw tooLarge(path, request.offset, pager.lines.length);
  if (request.offset > 0 && request.offset >= count) {
    throw pastTheEnd(path, request.offset, { count, what: 'lines' });
  }
  const metadata: JsonObject = {
    kind: 'text',
    ...request,
    ...(whole && { total_lines: count }),
    ...(pager.hasMore && { next_offset: request.offset + request.limit }),
    ...(encoding !== 'utf-8' && { encoding }),
    ...(lineEnding !== undefined && { line_ending: lineEnding }),
  };
  const text = framed('file', path, pager.lines);
  return { text: count === 0 ? `${text}\nempty, ${bytes} bytes` : text, metadata };
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

async function refusal({ handle, path }: OpenFile, head: Buffer, problem: string): Promise<AgentdError> {
  const { size } = await handle.stat();
  return toolError(
    'not_supported',
    `${shownPath(path)} is not text but ${sniffedType(head)} (${size} bytes): ${problem}. Look at it with bash, e.g. file, xxd | head, or iconv for another encoding.`,
  );
}
