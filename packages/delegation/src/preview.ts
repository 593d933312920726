/** Bounds of what a notice shows of a child's text (DLG-5). */
const MAX_LINES = 20;
const MAX_BYTES = 2048;

/** What a parent is shown of the text that its child ended with. */
export interface Preview {
  readonly preview: string;
  /** Of the whole text; a last line without a line break counts. */
  readonly lines: number;
  readonly truncated: boolean;
}

/** The first 20 lines and 2,048 bytes, cut between code points; controls but newlines and tabs become spaces (DLG-5). */
export function previewOf(text: string): Preview {
  const plain = text.toWellFormed().replaceAll(/[^\P{Cc}\n\t]/gu, ' ');
  const lines = linesOf(plain);
  const preview = cutToBytes(lines.slice(0, MAX_LINES).join(''), MAX_BYTES);
  return { preview, lines: lines.length, truncated: preview.length < plain.length };
}

/** Each with its line break. */
export function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // A byte 10xxxxxx continues a character that began before it.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}
