import { malformed } from '../fault.ts';
import { PdfReader, type WorkBudget } from './pdf-reader.ts';
import { MAX_UNPACKED_BYTES, unpack, type PdfStream } from './pdf-stream.ts';
import { isCount, isDictionary, isReference, type PdfDictionary, type PdfValue } from './pdf-value.ts';
import type { XrefEntry } from './xref.ts';

/** Object streams that must be opened to open another one; a real file has none. */
const MAX_OPENING = 8;

/** References that lead to references; a real file has one. */
const MAX_HOPS = 8;

interface PackedObjects {
  readonly data: Uint8Array;
  /** Where each object begins, by its index. */
  readonly offsets: readonly number[];
}

/** The objects of one file, by number. */
export class PdfObjects {
  /** Filled by the cross-references, the newest entry first. */
  readonly entries = new Map<number, XrefEntry>();
  readonly #bytes: Uint8Array;
  readonly #work: WorkBudget;
  readonly #packed = new Map<number, PackedObjects>();
  /** Object streams that are being opened: one may need another for its length, and must not need itself. */
  readonly #opening = new Set<number>();
  #unpackedBytes = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    // Of a sound file less than all is read, and that once; the rest is for small parts that many pages share.
    this.#work = { left: bytes.length + 8 * 1024 * 1024 };
  }

  get byteLength(): number {
    return this.#bytes.length;
  }

  readerAt(offset: number): PdfReader {
    if (offset >= this.#bytes.length) malformed(`it points to byte ${offset}, behind the end`);
    return new PdfReader(this.#bytes, offset, this.#work);
  }

  /** What a value stands for; null for an object that is not there, as the format has it. */
  resolve(value: PdfValue | undefined): PdfValue {
    let current = value ?? null;
    for (let hop = 0; isReference(current); hop += 1) {
      if (hop >= MAX_HOPS) malformed(`object ${current.object} is a reference that leads nowhere`);
      current = this.#object(current.object);
    }
    return current;
  }

  /** The stream with this number; undefined where the object is no stream or not there. */
  stream(object: number): PdfStream | undefined {
    const entry = this.entries.get(object);
    if (entry?.kind !== 'offset') return undefined;
    const reader = this.#indirect(entry.offset, object);
    return this.#streamBody(reader, reader.value());
  }

  /** The stream that begins at `offset`, whatever its number. */
  streamAt(offset: number): PdfStream {
    const reader = this.#indirect(offset);
    return this.#streamBody(reader, reader.value()) ?? malformed(`no stream stands at byte ${offset}`);
  }

  unpacked(stream: PdfStream): Uint8Array {
    const plain = unpack(stream, MAX_UNPACKED_BYTES - this.#unpackedBytes);
    this.#unpackedBytes += plain.length;
    this.#work.left += plain.length;
    return plain;
  }

  #object(object: number): PdfValue {
    const entry = this.entries.get(object);
    if (entry === undefined || entry.kind === 'free') return null;
    if (entry.kind === 'offset') return this.#indirect(entry.offset, object).value();
    const { data, offsets } = this.#packedObjects(entry.stream);
    const offset = offsets[entry.index];
    if (offset === undefined) malformed(`object ${object} is not in the object stream ${entry.stream}`);
    return new PdfReader(data, offset, this.#work).value();
  }

  /** A reader behind `N G obj`. */
  #indirect(offset: number, object?: number): PdfReader {
    const reader = this.readerAt(offset);
    const found = reader.count(`object ${object ?? ''}`.trim());
    reader.count('the generation of an object');
    if (!reader.accept('obj') || (object !== undefined && found !== object)) {
      malformed(`object ${object ?? found} does not stand at byte ${offset}, where it should`);
    }
    return reader;
  }

  #streamBody(reader: PdfReader, value: PdfValue): PdfStream | undefined {
    if (!isDictionary(value) || !reader.accept('stream')) return undefined;
    if (this.#bytes[reader.at] === 0x0d) reader.at += 1;
    if (this.#bytes[reader.at] === 0x0a) reader.at += 1;
    const from = reader.at;
    const length = this.resolve(value.get('/Length'));
    if (!isCount(length)) malformed(`the stream at byte ${from} does not say how long it is`);
    if (from + length > this.#bytes.length) {
      malformed(`the stream at byte ${from} is cut off: it says ${length} bytes`);
    }
    reader.at = from + length;
    if (!reader.accept('endstream'))
      malformed(`the stream at byte ${from} does not end after ${length} bytes`);
    return { dictionary: value, data: this.#bytes.subarray(from, from + length) };
  }

  #packedObjects(stream: number): PackedObjects {
    const known = this.#packed.get(stream);
    if (known !== undefined) return known;
    if (this.#opening.has(stream) || this.#opening.size >= MAX_OPENING) {
      malformed(`the object stream ${stream} cannot be opened without itself`);
    }
    this.#opening.add(stream);
    const found = this.stream(stream);
    if (found?.dictionary.get('/Type') !== '/ObjStm') malformed(`object ${stream} is no object stream`);
    const data = this.unpacked(found);
    const packed = { data, offsets: this.#offsets(data, found.dictionary) };
    this.#packed.set(stream, packed);
    this.#opening.delete(stream);
    return packed;
  }

  #offsets(data: Uint8Array, dictionary: PdfDictionary): readonly number[] {
    const [count, first] = [this.resolve(dictionary.get('/N')), this.resolve(dictionary.get('/First'))];
    if (!isCount(count) || !isCount(first)) malformed('an object stream does not say what it holds');
    const reader = new PdfReader(data, 0, this.#work);
    const offsets: number[] = [];
    for (let index = 0; index < count; index += 1) {
      reader.count('a number in an object stream');
      offsets.push(first + reader.count('an offset in an object stream'));
    }
    return offsets;
  }
}
