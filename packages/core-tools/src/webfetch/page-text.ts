import type { BodyBytes } from './read-body.ts';

/** Where an answer came from and what it says of itself. */
export interface PageHead {
  /** Without user name and password. */
  readonly finalUrl: string;
  readonly status: number;
  /** As received; empty where the server sent none. */
  readonly contentTypeHeader: string;
}

/** The four header lines and the empty line before the body (WEB-4). */
export function headerLines({
  finalUrl,
  status,
  contentTypeHeader,
  truncated,
}: PageHead & { readonly truncated: boolean }): string {
  return [
    `final_url: ${finalUrl}`,
    `status_code: ${status}`,
    `content_type: ${contentTypeHeader}`,
    `truncated: ${truncated}`,
    '',
    '',
  ].join('\n');
}

/** Bytes that the header takes at most. */
export function headerRoom(head: PageHead): number {
  return Buffer.byteLength(headerLines({ ...head, truncated: false }));
}

/**
 * Header and body as one text: decoded as UTF-8, invalid bytes replaced (WEB-5). The header is written into the free
 * bytes before the body.
 */
export function verbatimResult(head: PageHead, room: number, { bytes, truncated }: BodyBytes): string {
  const header = Buffer.from(headerLines({ ...head, truncated }));
  const start = room - header.length;
  header.copy(bytes, start);
  return bytes.toString('utf8', start);
}
