/** A half-open range of a text, in units (see `unitsOf`). */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Enough to tell a model that its text is everywhere; more would only take time. */
export const MAX_COUNTED = 10_000;

/** More places than this are not replaced in one edit: each takes memory. */
export const MAX_REPLACED = 1_000_000;

/** `all`: overlapping places too, up to 10,000. `separate`: from left to right without overlap, to one over the bound. */
export type PlaceSearch = 'all' | 'separate';

/**
 * Where `needle`, which is not empty, stands: as given, or, where that finds nothing, with CRLF and LF taken as equal
 * (FS-8). In a file of CRLF alone a line end is one thing: no place begins in the middle of one.
 */
export function placesOf(text: string, needle: string, search: PlaceSearch): readonly Place[] {
  if (isAllCrlf(text)) return occurrences(text, withCrlf(needle), search);
  const exact = occurrences(text, needle, search);
  return exact.length > 0 ? exact : looseOccurrences(text, needle, search);
}

/** The text with each line end as CRLF. */
export function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

/** One-based line numbers of ascending positions. */
export function linesOf(text: string, positions: readonly number[]): readonly number[] {
  const lines: number[] = [];
  let line = 1;
  let next = text.indexOf('\n');
  for (const position of positions) {
    for (; next >= 0 && next < position; next = text.indexOf('\n', next + 1)) line++;
    lines.push(line);
  }
  return lines;
}

/** Whether every line end is CRLF, of at least one. */
export function isAllCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

function occurrences(text: string, needle: string, search: PlaceSearch): readonly Place[] {
  const found: Place[] = [];
  const [step, most] = search === 'all' ? [1, MAX_COUNTED] : [needle.length, MAX_REPLACED + 1];
  for (let at = text.indexOf(needle); at >= 0 && found.length < most; at = text.indexOf(needle, at + step)) {
    found.push({ start: at, end: at + needle.length });
  }
  return found;
}

/** Searches without any `\r` before `\n`, and maps what is found back onto the text as it is. */
function looseOccurrences(text: string, needle: string, search: PlaceSearch): readonly Place[] {
  const plainNeedle = needle.replaceAll('\r\n', '\n');
  const ends = crlfEnds(text);
  if (ends.length === 0 && plainNeedle === needle) return [];
  const places = occurrences(text.replaceAll('\r\n', '\n'), plainNeedle, search);
  // Each CRLF before a position moves it by one; one that the position stands on belongs to the place.
  const original = (position: number): number => position + countBelow(ends, position);
  return places.map(({ start, end }) => ({ start: original(start), end: original(end) }));
}

/** Where each CRLF's line end stands once the returns are gone. */
function crlfEnds(text: string): readonly number[] {
  const ends: number[] = [];
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) ends.push(at - ends.length);
  return ends;
}

function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
