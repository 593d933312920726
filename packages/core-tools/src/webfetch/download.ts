import { toolError } from '@agentd/contract';
import { contentKind, parseContentType, type ContentType } from './content-type.ts';
import { decodeContent } from './content-decoding.ts';
import { fetchFailure } from './fetch-failure.ts';
import { fetchPage, type FetchPorts } from './fetch-page.ts';
import type { HttpAnswer } from './http-get.ts';
import { headerRoom, verbatimResult, type PageHead } from './page-text.ts';
import { readBody } from './read-body.ts';
import { withoutCredentials } from './web-url.ts';

/**
 * What came back. HTML that is to be rendered is bytes whose charset is still to be found; anything else is the whole
 * result, header lines and body (WEB-4).
 */
export type Download = PageHead & { readonly contentType: ContentType; readonly truncated: boolean } & (
    | { readonly kind: 'html'; readonly bytes: Buffer }
    | { readonly kind: 'verbatim'; readonly result: string }
  );

export interface DownloadRequest {
  readonly start: URL;
  /** Takes HTML as text (WEB-5). */
  readonly raw: boolean;
}

/** Bytes after content decoding at which a body is cut (WEB-13). */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Fetches a page up to the limit; the connection is closed when this settles. Throws tool errors. */
export async function download(
  { start, raw }: DownloadRequest,
  ports: FetchPorts,
  signal: AbortSignal,
): Promise<Download> {
  try {
    const { url, answer } = await fetchPage(start, ports, signal);
    try {
      return await readAnswer(url, answer, raw);
    } finally {
      answer.close();
    }
  } catch (error) {
    throw fetchFailure(withoutCredentials(start), error);
  }
}

async function readAnswer(url: URL, answer: HttpAnswer, raw: boolean): Promise<Download> {
  const contentTypeHeader = answer.headers['content-type'] ?? '';
  const contentType = parseContentType(contentTypeHeader);
  const kind = contentKind(contentType);
  if (kind === 'binary') throw unsupported(url, contentType, contentTypeHeader);
  const head = { finalUrl: url.href, status: answer.status, contentTypeHeader, contentType };
  const content = decodeContent(answer.body, answer.headers['content-encoding']);
  const room = headerRoom(head);
  const body = await readBody(content, { limit: MAX_BODY_BYTES, room });
  const { truncated } = body;
  return kind === 'html' && !raw
    ? { ...head, truncated, kind: 'html', bytes: body.bytes.subarray(room) }
    : { ...head, truncated, kind: 'verbatim', result: verbatimResult(head, room, body) };
}

function unsupported(url: URL, { essence }: ContentType, header: string): Error {
  const declared = header === '' ? 'no Content-Type, which counts as ' : '';
  return toolError(
    'unsupported_content_type',
    `${url.href} has ${declared}${essence}; webfetch returns text, HTML, JSON and XML only. If the file is needed, download it with a command`,
  );
}
