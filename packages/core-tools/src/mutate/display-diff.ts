import type { JsonObject } from '@agentd/contract';

/** A change as people are shown it. */
export interface DisplayDiff extends JsonObject {
  /** Null where it would be too large to make, or where the old side is no text. */
  readonly diff: string | null;
  /** Whether lines were left out at its end. */
  readonly diff_truncated: boolean;
}

/** What both sides may have together to be compared at all. */
export const MAX_COMPARED_BYTES = 1024 * 1024;
const MAX_DIFF_BYTES = 48 * 1024;
/** Finding the shortest difference takes time with the square of its lines; beyond this it is shown as one block. */
const MAX_EDIT_LENGTH = 400;
const CONTEXT_LINES = 3;

/** A unified diff of at most 48 KiB (FS-13). `before` is null where it cannot be shown. */
export async function displayDiff(name: string, before: string | null, after: string): Promise<DisplayDiff> {
  if (before === null || before.length + after.length > MAX_COMPARED_BYTES) {
    return { diff: null, diff_truncated: false };
  }
  // Loaded at the first change: no start-up waits for it.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const patch = createTwoFilesPatch(name, name, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDIT_LENGTH,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return bounded(patch ?? `--- ${name}\n+++ ${name}\n${wholeBlock(linesOf(before), linesOf(after))}`);
}

function bounded(patch: string): DisplayDiff {
  const bytes = Buffer.from(patch);
  if (bytes.length <= MAX_DIFF_BYTES) return { diff: patch, diff_truncated: false };
  const cut = bytes.lastIndexOf('\n', MAX_DIFF_BYTES - 1);
  return { diff: bytes.toString('utf8', 0, Math.max(0, cut + 1)), diff_truncated: true };
}

/** One hunk from the first line that differs to the last. */
function wholeBlock(before: readonly string[], after: readonly string[]): string {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let same = 0;
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same++;

  const from = Math.max(0, start - CONTEXT_LINES);
  const tail = Math.min(same, CONTEXT_LINES);
  const until = (lines: readonly string[]): number => lines.length - same;
  const span = (lines: readonly string[]): string => `${from + 1},${until(lines) + tail - from}`;
  return [
    `@@ -${span(before)} +${span(after)} @@\n`,
    ...marked(' ', before.slice(from, start)),
    ...marked('-', before.slice(start, until(before))),
    ...marked('+', after.slice(start, until(after))),
    ...marked(' ', before.slice(until(before), until(before) + tail)),
  ].join('');
}

function marked(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) =>
    line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`,
  );
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
