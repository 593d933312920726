import { malformed, oversized } from '../fault.ts';
import type { PdfObjects } from './pdf-objects.ts';
import type { PdfReader } from './pdf-reader.ts';
import { isArray, isCount, isDictionary, type PdfDictionary, type PdfValue } from './pdf-value.ts';

const MAX_OBJECTS = 500_000;
const MAX_SECTIONS = 1024;

/** Where an object is: at a byte of the file, or the n-th of an object stream; `free` hides older ones. */
export type XrefEntry =
  | { readonly kind: 'free' }
  | { readonly kind: 'offset'; readonly offset: number }
  | { readonly kind: 'packed'; readonly stream: number; readonly index: number };

const FREE: XrefEntry = { kind: 'free' };

/** Follows every cross-reference section from the newest on; gives the newest trailer. */
export function readXref(objects: PdfObjects, start: number): PdfDictionary {
  const seen = new Set<number>();
  const pending = [start];
  let newest: PdfDictionary | undefined;
  for (let offset = pending.pop(); offset !== undefined; offset = pending.pop()) {
    if (seen.has(offset)) malformed(`its cross-references point in a circle, at byte ${offset}`);
    if (seen.size >= MAX_SECTIONS) malformed(`it has more than ${MAX_SECTIONS} cross-reference sections`);
    seen.add(offset);
    const trailer = readSection(objects, offset);
    if (trailer.has('/Encrypt'))
      malformed('it is encrypted; take the protection off first (for example with qpdf --decrypt)');
    newest ??= trailer;
    // The stream of a hybrid file comes before the older section: what is pushed last is read first.
    for (const key of ['/Prev', '/XRefStm']) {
      const next = trailer.get(key);
      if (next !== undefined && !isCount(next)) malformed(`its trailer says no number for ${key}`);
      if (next !== undefined) pending.push(next);
    }
  }
  return newest ?? malformed('it has no trailer');
}

function readSection(objects: PdfObjects, offset: number): PdfDictionary {
  const reader = objects.readerAt(offset);
  if (!reader.accept('xref')) return readXrefStream(objects, offset);
  while (!reader.accept('trailer')) {
    const first = reader.count('the first number of a cross-reference section');
    const count = reader.count('the length of a cross-reference section');
    for (let index = 0; index < count; index += 1) addEntry(objects, first + index, tableEntry(reader));
  }
  const trailer = reader.value();
  return isDictionary(trailer)
    ? trailer
    : malformed(`no trailer follows the cross-references at byte ${offset}`);
}

function tableEntry(reader: PdfReader): XrefEntry {
  const offset = reader.count('the offset of an object');
  reader.count('the generation of an object');
  const { at } = reader;
  const use = reader.word();
  if (use === 'n') return offset === 0 ? FREE : { kind: 'offset', offset };
  return use === 'f' ? FREE : malformed(`a cross-reference is damaged at byte ${at}`);
}

function readXrefStream(objects: PdfObjects, offset: number): PdfDictionary {
  const stream = objects.streamAt(offset);
  const { dictionary } = stream;
  if (dictionary.get('/Type') !== '/XRef') malformed(`no cross-reference stands at byte ${offset}`);
  const widths = numbers(dictionary.get('/W'));
  if (widths.length < 3 || widths.some((width) => width > 7))
    malformed('its cross-reference stream has no field widths');
  const size = dictionary.get('/Size') ?? 0;
  const ranges = dictionary.has('/Index') ? numbers(dictionary.get('/Index')) : [0, isCount(size) ? size : 0];
  const rows = new XrefRows(objects.unpacked(stream), widths);
  for (let range = 0; range + 1 < ranges.length; range += 2) {
    const [first = 0, count = 0] = ranges.slice(range, range + 2);
    for (let index = 0; index < count; index += 1) addEntry(objects, first + index, rows.next());
  }
  return dictionary;
}

class XrefRows {
  readonly #data: Uint8Array;
  readonly #widths: readonly number[];
  readonly #rowBytes: number;
  #at = 0;

  constructor(data: Uint8Array, widths: readonly number[]) {
    this.#data = data;
    this.#widths = widths;
    this.#rowBytes = widths.reduce((sum, width) => sum + width, 0);
  }

  next(): XrefEntry {
    if (this.#rowBytes === 0 || this.#at + this.#rowBytes > this.#data.length) {
      malformed('its cross-reference stream is shorter than it says');
    }
    const [typeWidth = 0, secondWidth = 0, thirdWidth = 0] = this.#widths;
    const type = typeWidth === 0 ? 1 : this.#field(typeWidth);
    const second = this.#field(secondWidth);
    const third = this.#field(thirdWidth);
    for (const extra of this.#widths.slice(3)) this.#at += extra;
    if (type === 1) return second === 0 ? FREE : { kind: 'offset', offset: second };
    return type === 2 ? { kind: 'packed', stream: second, index: third } : FREE;
  }

  #field(width: number): number {
    let value = 0;
    for (const byte of this.#data.subarray(this.#at, this.#at + width)) value = value * 256 + byte;
    this.#at += width;
    return value;
  }
}

function addEntry(objects: PdfObjects, object: number, entry: XrefEntry): void {
  const { entries } = objects;
  if (entries.has(object)) return;
  if (entries.size >= MAX_OBJECTS) oversized(`it has more than ${MAX_OBJECTS} objects`);
  if (entry.kind === 'offset' && entry.offset >= objects.byteLength) {
    malformed(`object ${object} should stand at byte ${entry.offset}, behind the end`);
  }
  entries.set(object, entry);
}

function numbers(value: PdfValue | undefined): readonly number[] {
  if (!isArray(value) || !value.every(isCount))
    malformed('its cross-reference stream has a list without numbers');
  return value;
}
