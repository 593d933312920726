import { malformed, oversized } from '../fault.ts';
import type { MediaFacts } from '../facts.ts';
import { PdfObjects } from './pdf-objects.ts';
import { isArray, isDictionary, isReference, type PdfDictionary, type PdfValue } from './pdf-value.ts';
import { readXref } from './xref.ts';

/** The end of a file must lie within so many bytes of its last one. */
const TAIL_BYTES = 2048;
/** More pages are not counted one by one. */
const MAX_PAGES = 10_000;

/** Header, end, every cross-reference section, and the page tree with the content of each page. */
export function walkPdf(bytes: Uint8Array): MediaFacts {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^%PDF-(?:1\.\d|2\.\d)[\s%]/.test(file.toString('latin1', 0, 9))) {
    malformed('its header names no version of PDF');
  }
  const objects = new PdfObjects(bytes);
  const trailer = readXref(objects, startOfXref(file));
  const catalog = objects.resolve(trailer.get('/Root'));
  if (!isDictionary(catalog)) malformed('it has no catalog (/Root)');
  return { pages: countPages(objects, catalog.get('/Pages')) };
}

function startOfXref(file: Buffer): number {
  const tail = file.toString('latin1', Math.max(0, file.length - TAIL_BYTES));
  const last = tail.lastIndexOf('startxref');
  if (last < 0) malformed('it is cut off: no "startxref" stands at its end');
  const offset = /^startxref\s+(\d{1,12})\s+%%EOF[\s\0]*$/.exec(tail.slice(last))?.[1];
  return Number(offset ?? malformed('it does not end with "startxref", an offset and "%%EOF"'));
}

function countPages(objects: PdfObjects, root: PdfValue | undefined): number {
  const seen = new Set<number>();
  const pending: PdfValue[] = [root ?? null];
  let pages = 0;
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (isReference(value)) {
      if (seen.has(value.object)) malformed(`its page tree holds object ${value.object} twice`);
      seen.add(value.object);
    }
    const node = objects.resolve(value);
    if (!isDictionary(node)) malformed('its page tree has a hole');
    const kids = objects.resolve(node.get('/Kids'));
    if (isArray(kids)) {
      // Not spread into push: a list may be longer than a call has room for arguments.
      for (const kid of kids.toReversed()) pending.push(kid);
    } else {
      pages += 1;
      if (pages > MAX_PAGES) oversized(`it has more than ${MAX_PAGES} pages`);
      checkContents(objects, node);
    }
  }
  return pages > 0 ? pages : malformed('it has no page');
}

/** Each content stream of a page must be there whole. */
function checkContents(objects: PdfObjects, page: PdfDictionary): void {
  const contents = page.get('/Contents');
  const list = isReference(contents) ? objects.resolve(contents) : contents;
  for (const part of isArray(list) ? list : [contents]) {
    if (isReference(part)) objects.stream(part.object);
  }
}
