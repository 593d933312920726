import { isJsonObject } from '@agentd/contract';

/** More elements of one list say no more. */
const LONGEST_LIST = 50;
/** Deeper arguments are shown as a dot. */
const DEEPEST = 8;

/** Beginning and end of a text of which at most `limit` characters stay; never half a character. */
export function excerpt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil((limit * 2) / 3);
  const left = text.length - limit;
  return `${whole(text.slice(0, head))}\n[… ${left} characters left out …]\n${whole(text.slice(text.length - (limit - head)))}`;
}

/** The beginning of a text of which at most `bytes` bytes stay; never half a character. */
export function beginning(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, Math.max(0, bytes)), { stream: true });
}

/** Arguments of a call as JSON, long texts in them shortened: what comes out parses (field I15). */
export function shortArguments(input: unknown, limit: number): string {
  return JSON.stringify(shortValue(input, { limit, depth: 0 })) ?? 'null';
}

function shortValue(value: unknown, { limit, depth }: { limit: number; depth: number }): unknown {
  if (typeof value === 'string') return shortText(value, limit);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return '…';
  const inner = { limit, depth: depth + 1 };
  if (Array.isArray(value)) {
    const shown = value.slice(0, LONGEST_LIST).map((item) => shortValue(item, inner));
    return value.length > LONGEST_LIST ? [...shown, `… ${value.length - LONGEST_LIST} more left out`] : shown;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).slice(0, LONGEST_LIST);
  return Object.fromEntries(entries.map(([key, item]) => [shortText(key, limit), shortValue(item, inner)]));
}

function shortText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${whole(text.slice(0, limit))}… [${text.length - limit} characters left out]`;
}

/** Without the halves of characters that a cut leaves at its ends. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '');
}
