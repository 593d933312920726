import type { Buffer } from 'node:buffer';

const QUOTED_REFERENCE = /"artifact:\/\/sha256\/([0-9a-f]{64})"/g;
const REFERENCE = /^artifact:\/\/sha256\/([0-9a-f]{64})$/;

/** Escapes that can hide a character of a reference: all of them are ASCII. */
const HIDING_ESCAPE = /\\u00|\\\//;
const TRACES = ['artifact://sha256/', String.raw`\u00`, String.raw`\/`];

/** Whether JSON text may hold a reference; one look at the bytes spares most of them the parsing. */
export function mayHoldReferences(bytes: Buffer): boolean {
  return TRACES.some((trace) => bytes.includes(trace, 0, 'latin1'));
}

/** The digests of all strings `artifact://sha256/<digest>` in a JSON text, wherever they stand; none when it is no JSON. */
export function referencesIn(text: string): readonly string[] {
  const value = jsonOf(text);
  if (value === undefined) return [];
  // A quote inside a string is escaped, so what matches between two bare quotes is a string of its own.
  const found = [...text.matchAll(QUOTED_REFERENCE)].map(([, digest = '']) => digest);
  return HIDING_ESCAPE.test(text) ? [...found, ...referencesOfValue(value)] : found;
}

/** Without recursion: a log may nest deeper than the stack is. */
function referencesOfValue(value: unknown): readonly string[] {
  const found: string[] = [];
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') {
      const digest = REFERENCE.exec(next)?.[1];
      if (digest !== undefined) found.push(digest);
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, child] of Object.entries(next)) waiting.push(key, child);
    }
  }
  return found;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // Torn or malformed (ART-9).
  }
}
