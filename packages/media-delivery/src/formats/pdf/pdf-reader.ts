import { malformed } from '../fault.ts';
import { PDF_STRING, type PdfString, type PdfValue } from './pdf-value.ts';

const MAX_DEPTH = 64;
/** More digits are no count and no offset. */
const MAX_DIGITS = 15;
/** What a value costs beside its bytes: it takes memory. */
const VALUE_COST = 32;
/** What matters of a word; longer ones are none that we know. */
const MAX_WORD = 128;

/** 1 for white space, 2 for a delimiter, by byte. */
const CLASS = new Uint8Array(256);
for (const byte of Buffer.from('\0\t\n\f\r ')) CLASS[byte] = 1;
for (const byte of Buffer.from('()<>[]{}/%')) CLASS[byte] = 2;

/** Bytes that all readers of one file may still look at together: what points in circles must end. */
export interface WorkBudget {
  left: number;
}

/** Reads PDF objects from some place on. Throws a format fault for what is none. */
export class PdfReader {
  readonly bytes: Uint8Array;
  readonly #work: WorkBudget;
  /** The same bytes. */
  readonly #text: Buffer;
  at: number;

  constructor(bytes: Uint8Array, at: number, work: WorkBudget) {
    this.bytes = bytes;
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.#work = work;
  }

  /** Moves to the next byte that is neither white space nor comment. */
  skipSpace(): void {
    const { bytes } = this;
    let { at } = this;
    for (;;) {
      at = this.#spaceEnd(at);
      if (bytes[at] !== 0x25) break;
      while (at < bytes.length && bytes[at] !== 0x0a && bytes[at] !== 0x0d) at += 1;
    }
    this.#spend(at);
  }

  /** The run of regular characters that comes next; may be empty. */
  word(): string {
    this.skipSpace();
    const from = this.at;
    let at = from;
    while (at < this.bytes.length && CLASS[this.bytes[at] ?? 0] === 0) at += 1;
    this.#spend(at);
    return this.#text.toString('latin1', from, at < from + MAX_WORD ? at : from + MAX_WORD);
  }

  /** Takes `word` if it comes next. */
  accept(word: string): boolean {
    const from = this.at;
    if (this.word() === word) return true;
    this.at = from;
    return false;
  }

  count(what: string): number {
    this.skipSpace();
    const { at } = this;
    const { value, end } = this.#digits(at) ?? malformed(`${what} is missing at byte ${at}`);
    this.#spend(end);
    return value;
  }

  value(depth = 0): PdfValue {
    this.#work.left -= VALUE_COST;
    if (depth > MAX_DEPTH) malformed(`its objects nest more than ${MAX_DEPTH} deep`);
    this.skipSpace();
    const byte = this.bytes[this.at];
    if (byte === undefined) malformed('it is cut off inside an object');
    if (byte === 0x2f) return this.#name();
    if (byte === 0x28) return this.#literalString();
    if (byte === 0x5b) return this.#array(depth);
    if (byte === 0x3c) return this.bytes[this.at + 1] === 0x3c ? this.#dictionary(depth) : this.#hexString();
    return this.#numberOrWord();
  }

  #name(): string {
    this.at += 1;
    const from = this.at;
    const raw = this.#isAtRegular() ? this.word() : '';
    if (raw === '') this.at = from;
    return raw.includes('#') ? `/${decodedName(raw)}` : `/${raw}`;
  }

  #isAtRegular(): boolean {
    const byte = this.bytes[this.at];
    return byte !== undefined && CLASS[byte] === 0;
  }

  #literalString(): PdfString {
    let open = 0;
    let { at } = this;
    do {
      const byte = this.bytes[at];
      if (byte === undefined) malformed(`the string at byte ${this.at} does not end`);
      if (byte === 0x5c) at += 1;
      if (byte === 0x28) open += 1;
      if (byte === 0x29) open -= 1;
      at += 1;
    } while (open > 0);
    this.#spend(at);
    return PDF_STRING;
  }

  #hexString(): PdfString {
    const end = this.bytes.indexOf(0x3e, this.at);
    if (end < 0) malformed(`the string at byte ${this.at} does not end`);
    this.#spend(end + 1);
    return PDF_STRING;
  }

  #array(depth: number): readonly PdfValue[] {
    this.at += 1;
    const items: PdfValue[] = [];
    for (this.skipSpace(); this.bytes[this.at] !== 0x5d; this.skipSpace()) items.push(this.value(depth + 1));
    this.at += 1;
    return items;
  }

  #dictionary(depth: number): ReadonlyMap<string, PdfValue> {
    const from = this.at;
    this.at += 2;
    const entries = new Map<string, PdfValue>();
    for (this.skipSpace(); this.bytes[this.at] === 0x2f; this.skipSpace()) {
      const key = this.#name();
      entries.set(key, this.value(depth + 1));
    }
    if (this.bytes[this.at] !== 0x3e || this.bytes[this.at + 1] !== 0x3e) {
      malformed(`the dictionary at byte ${from} is damaged at byte ${this.at}`);
    }
    this.at += 2;
    return entries;
  }

  #numberOrWord(): PdfValue {
    const whole = this.#digits(this.at);
    if (whole !== undefined) {
      this.#spend(whole.end);
      return this.#reference(whole.value);
    }
    const from = this.at;
    const word = this.word();
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'null') return null;
    if (!/^[+-]*(?:\d+\.?\d*|\.\d+)$/.test(word)) malformed(`no object stands at byte ${from}`);
    return Number(word.replace(/^[+-]*(?=[+-])/, ''));
  }

  /** `7 0 R` begins like the number 7. */
  #reference(first: number): PdfValue {
    const generation = this.#digits(this.#spaceEnd(this.at));
    if (generation === undefined) return first;
    const end = this.#spaceEnd(generation.end);
    if (this.bytes[end] !== 0x52 || CLASS[this.bytes[end + 1] ?? 0] === 0) return first;
    this.#spend(end + 1);
    return { object: first };
  }

  /** A whole number without sign that is a word of its own: most of what a structure consists of. */
  #digits(from: number): { readonly value: number; readonly end: number } | undefined {
    const { bytes } = this;
    let end = from;
    let value = 0;
    for (let byte = bytes[end] ?? 0; byte >= 0x30 && byte <= 0x39; byte = bytes[end] ?? 0) {
      value = value * 10 + byte - 0x30;
      end += 1;
    }
    const isWhole = end > from && end - from <= MAX_DIGITS && CLASS[bytes[end] ?? 0] !== 0;
    return isWhole ? { value, end } : undefined;
  }

  #spaceEnd(from: number): number {
    let at = from;
    while (at < this.bytes.length && CLASS[this.bytes[at] ?? 0] === 1) at += 1;
    return at;
  }

  #spend(at: number): void {
    this.#work.left -= at - this.at + 1;
    this.at = at;
    if (this.#work.left < 0) malformed('its objects point over each other too often to be followed');
  }
}

/** `#20` stands for a blank. */
const decodedName = (raw: string): string =>
  raw.replace(/#([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
