import { TextDecoder } from 'node:util';
import { scanTags, type Attributes } from './tag-scanner.ts';

/** How far into the page a declaration is looked for; browsers promise 1,024 bytes and read further too. */
const SCANNED_BYTES = 64 * 1024;

const META = new Set(['meta']);

/** The text of a page in its declared charset: of the header, of its BOM, of the page, else UTF-8 (WEB-6). */
export function decodeHtml(bytes: Uint8Array, headerCharset: string | null): string {
  const decoder =
    decoderFor(headerCharset) ??
    decoderFor(bomCharset(bytes)) ??
    pageDecoder(bytes) ??
    new TextDecoder('utf-8');
  return decoder.decode(bytes);
}

/** Null for a label that names no charset. */
function decoderFor(label: string | null): TextDecoder | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

function bomCharset([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : null;
}

function pageDecoder(bytes: Uint8Array): TextDecoder | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SCANNED_BYTES)).toString(
    'latin1',
  );
  const labels = [xmlEncoding(head), ...metaCharsets(head)];
  for (const label of labels) {
    const decoder = decoderFor(label);
    // A page whose declaration reads as ASCII cannot be UTF-16, whatever it says.
    if (decoder !== null) return decoder.encoding.startsWith('utf-16') ? new TextDecoder('utf-8') : decoder;
  }
  return null;
}

function xmlEncoding(head: string): string | null {
  return /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]*)["']/i.exec(head)?.[1]?.trim() ?? null;
}

/** Declarations in real meta tags: one in a script, a comment or an attribute does not count. */
function metaCharsets(head: string): readonly string[] {
  const found: string[] = [];
  scanTags(head, META, {
    open: (name, attributes) => {
      const charset = name === 'meta' ? metaCharset(attributes) : null;
      if (charset !== null) found.push(charset);
    },
    close: () => undefined,
    text: () => undefined,
  });
  return found;
}

function metaCharset({ charset, content, 'http-equiv': equivalent }: Attributes): string | null {
  if (charset !== undefined) return charset.trim();
  if (equivalent?.trim().toLowerCase() !== 'content-type') return null;
  return /charset\s*=\s*["']?\s*([^\s"';]+)/i.exec(content ?? '')?.[1] ?? null;
}
