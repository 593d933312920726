const encoder = new TextEncoder();

/** The longest start of `text` that fits into `maxBytes` of UTF-8; no code point is split (OUT-14). */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(maxBytes)).read);
}

/** Text for people: well-formed, and control characters but newline and tab are spaces, so that no terminal obeys it (OUT-9). */
export function presentable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, ' ');
}
