import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { AgentdError, codeOf } from '@agentd/contract';

/** How the text of a file is encoded. UTF-16 counts only with its byte-order mark (FS-4). */
export type TextEncoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be';

/** Byte-order marks, which belong to the file and not to its text. */
const MARKS: Readonly<Record<TextEncoding, Buffer>> = {
  'utf-8': Buffer.alloc(0),
  'utf-8-bom': Buffer.from([0xef, 0xbb, 0xbf]),
  'utf-16le': Buffer.from([0xff, 0xfe]),
  'utf-16be': Buffer.from([0xfe, 0xff]),
};

const NOT_TEXT = 'CORE_TOOLS_NOT_TEXT';

/** What a file with this beginning is encoded in, if it is text at all. */
export function encodingOf(head: Buffer): TextEncoding {
  const marked = (['utf-8-bom', 'utf-16le', 'utf-16be'] as const).find((encoding) =>
    head.subarray(0, MARKS[encoding].length).equals(MARKS[encoding]),
  );
  return marked ?? 'utf-8';
}

/** Says why bytes are no text, with the position of the first bad byte in the file. */
function notText(problem: string): AgentdError {
  return new AgentdError(NOT_TEXT, problem);
}

export function isNotText(error: unknown): boolean {
  return codeOf(error) === NOT_TEXT;
}

/**
 * Turns the bytes of a text file, chunk by chunk, into UTF-8 without byte-order mark. Every chunk it hands out is
 * whole characters. Throws (see `isNotText`) at the first NUL or invalid byte.
 */
export class Utf8Stream {
  readonly #decoder: TextDecoder | null;
  readonly #encoding: TextEncoding;
  #held: Buffer = Buffer.alloc(0);
  #position: number;

  /** `start` is the position of the first byte to come, at the start of a character. */
  constructor(encoding: TextEncoding, start = markLength(encoding)) {
    this.#encoding = encoding;
    this.#position = start;
    this.#decoder = encoding.startsWith('utf-16')
      ? new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
      : null;
  }

  /** How many bytes of the file the text so far takes, the byte-order mark among them. */
  get position(): number {
    return this.#position;
  }

  /** Takes what follows the byte-order mark. */
  push(bytes: Buffer): Buffer {
    const text = this.#decoder === null ? this.#wholeUtf8(bytes) : this.#fromUtf16(bytes, false);
    const zero = text.indexOf(0);
    if (zero >= 0) {
      const where = this.#decoder === null ? ` at byte ${this.#position + zero}` : '';
      throw notText(`it holds a NUL${where}`);
    }
    if (this.#decoder === null) this.#position += text.length;
    return text;
  }

  /** Call it at the end of the file: a character that never ended is invalid. */
  end(): void {
    if (this.#decoder !== null) this.#fromUtf16(Buffer.alloc(0), true);
    else if (this.#held.length > 0) throw invalidUtf8(this.#position);
  }

  #wholeUtf8(bytes: Buffer): Buffer {
    const joined = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const whole = joined.subarray(0, joined.length - unfinishedBytes(joined));
    if (!isUtf8(whole)) throw this.#firstProblem(whole);
    this.#held = Buffer.from(joined.subarray(whole.length));
    return whole;
  }

  /** Of a NUL and an invalid byte the earlier one is named. */
  #firstProblem(bytes: Buffer): AgentdError {
    const invalid = firstInvalidByte(bytes);
    const zero = bytes.subarray(0, invalid).indexOf(0);
    return zero < 0
      ? invalidUtf8(this.#position + invalid)
      : notText(`it holds a NUL at byte ${this.#position + zero}`);
  }

  #fromUtf16(bytes: Buffer, last: boolean): Buffer {
    try {
      const text = (this.#decoder as TextDecoder).decode(bytes, { stream: !last });
      this.#position += text.length * 2;
      return Buffer.from(text);
    } catch {
      throw notText(`it is not valid ${this.#encoding} near byte ${this.#position}`);
    }
  }
}

/** What the bytes of a whole file are encoded in. Throws (see `isNotText`) where they are no text. */
export function checkedEncoding(bytes: Buffer): TextEncoding {
  const encoding = encodingOf(bytes);
  const stream = new Utf8Stream(encoding);
  stream.push(bytes.subarray(markLength(encoding)));
  stream.end();
  return encoding;
}

/** The text of a whole file without its byte-order mark; what is wrong in it becomes U+FFFD. */
export function decodeAs(bytes: Buffer, encoding: TextEncoding): string {
  const content = bytes.subarray(markLength(encoding));
  if (!encoding.startsWith('utf-16')) return content.toString('utf8');
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(content);
}

/** The bytes of a whole file of this text. */
export function encodeText(text: string, encoding: TextEncoding): Buffer {
  if (!encoding.startsWith('utf-16')) return Buffer.concat([MARKS[encoding], Buffer.from(text, 'utf8')]);
  const units = Buffer.from(text, 'utf16le');
  return Buffer.concat([MARKS[encoding], encoding === 'utf-16be' ? units.swap16() : units]);
}

export function markLength(encoding: TextEncoding): number {
  return MARKS[encoding].length;
}

function invalidUtf8(position: number): AgentdError {
  return notText(`it is not valid UTF-8 at byte ${position}`);
}

/** How many bytes at the end may be the beginning of a character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

function firstInvalidByte(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes[at] ?? 0);
    if (at + length > bytes.length || !isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}
