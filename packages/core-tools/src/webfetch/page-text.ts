/** The header of a result but for `truncated`, which is known last. */
export interface PageHead {
  readonly finalUrl: string;
  readonly status: number;
  readonly contentTypeHeader: string;
}

/** The four header lines and the empty line before the body (WEB-4). */
export function headerLines({ finalUrl, status, contentTypeHeader }: PageHead, truncated: boolean): string {
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
  return Buffer.byteLength(headerLines(head, false));
}

/**
 * Header and body as one text, decoded as UTF-8 with invalid bytes replaced, from one buffer whose first `room` bytes
 * are free (WEB-5).
 */
export function verbatimText(
  head: PageHead,
  { bytes, room, truncated }: { readonly bytes: Buffer; readonly room: number; readonly truncated: boolean },
): string {
  const header = Buffer.from(headerLines(head, truncated));
  const start = room - header.length;
  header.copy(bytes, start);
  return bytes.toString('utf8', start);
}
