import type { Buffer } from 'node:buffer';
import { toolError } from '@agentd/contract';
import { contentKind, parseContentType, type ContentKind, type ContentType } from './content-type.ts';
import { decodeContent } from './content-decoding.ts';
import { fetchFailure } from './fetch-failure.ts';
import { fetchPage, type FetchPorts } from './fetch-page.ts';
import type { HttpAnswer } from './http-get.ts';
import { headerRoom } from './page-text.ts';
import { readBody } from './read-body.ts';
import { splitCredentials } from './web-url.ts';

/** What came back, its body decoded from its content encodings but not yet from its charset. */
export interface Download {
  /** Without user name and password. */
  readonly finalUrl: string;
  readonly status: number;
  /** As received; empty where the server sent none. */
  readonly contentTypeHeader: string;
  readonly contentType: ContentType;
  readonly kind: Exclude<ContentKind, 'binary'>;
  readonly truncated: boolean;
  /** `room` unused bytes, then the body. */
  readonly bytes: Buffer;
  readonly room: number;
}

/** Bytes after content decoding at which a body is cut (WEB-13). */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Fetches a page up to the limit; the connection is closed when this settles. Throws tool errors. */
export async function download(start: URL, ports: FetchPorts, signal: AbortSignal): Promise<Download> {
  const { url: shown } = splitCredentials(start);
  try {
    const { url, answer } = await fetchPage(start, ports, signal);
    try {
      return await readAnswer(url, answer);
    } finally {
      answer.close();
    }
  } catch (error) {
    throw fetchFailure(shown, error);
  }
}

async function readAnswer(url: URL, answer: HttpAnswer): Promise<Download> {
  const contentTypeHeader = answer.headers['content-type'] ?? '';
  const contentType = parseContentType(contentTypeHeader);
  const kind = contentKind(contentType);
  if (kind === 'binary') throw unsupported(url, contentType, contentTypeHeader);
  const head = { finalUrl: url.href, status: answer.status, contentTypeHeader };
  const room = headerRoom(head);
  const content = decodeContent(answer.body, answer.headers['content-encoding']);
  const body = await readBody(content, { limit: MAX_BODY_BYTES, room });
  return { ...head, ...body, contentType, kind, room };
}

function unsupported(url: URL, { essence }: ContentType, header: string): Error {
  const declared = header === '' ? 'no Content-Type, which counts as ' : '';
  return toolError(
    'unsupported_content_type',
    `${url.href} has ${declared}${essence}; webfetch returns text, HTML, JSON and XML only. If the file is needed, download it with a command`,
  );
}
