import { MAX_RESULT_BYTES, type OutputLimits, type StreamName } from '@agentd/contract';
import type { Preview, PreviewText } from './preview.ts';

/** Room that a result keeps for headings, markers and hints (OUT-7). */
const RESERVED_BYTES = 16 * 1024;

/** What all previews of a result may hold together (OUT-7). */
export const MAX_PREVIEW_BYTES = MAX_RESULT_BYTES - RESERVED_BYTES;

/**
 * The previews of one result. Where they would together be too large, each is cut again at its equal share (OUT-7).
 */
export function cutPreviews(
  previews: readonly Preview[],
  { maxLines, maxBytes }: OutputLimits,
): readonly PreviewText[] {
  const cuts = previews.map((preview) =>
    preview.cut({ maxLines, maxBytes: Math.min(maxBytes, MAX_PREVIEW_BYTES) }),
  );
  const total = cuts.reduce((sum, { shownBytes }) => sum + shownBytes, 0);
  if (total <= MAX_PREVIEW_BYTES) return cuts;
  const share = Math.floor(MAX_PREVIEW_BYTES / previews.length);
  return previews.map((preview) => preview.cut({ maxLines, maxBytes: Math.min(maxBytes, share) }));
}

/** A stream as the model sees it. */
export interface ShownStream {
  readonly name: StreamName;
  readonly text: string;
  /** Where the rest can be read; null when there is no rest, or no place to read it. */
  readonly more: { readonly uri: string; readonly offset: number } | null;
}

/**
 * The text of a result: a heading for each named stream, its preview, its hint, an empty line between streams (OUT-6);
 * a note, where there is one, is the last line.
 */
export function renderResult(streams: readonly ShownStream[], note: string | null): string {
  const text = streams.map(renderStream).reduce((before, stream) => `${withLineEnd(before)}\n${stream}`);
  if (note === null) return text;
  return `${withLineEnd(text)}[${note}]`;
}

function renderStream({ name, text, more }: ShownStream): string {
  const shown = more === null ? text : `${withLineEnd(text)}${hint(more.uri, more.offset)}`;
  if (name === null) return shown;
  return shown === '' ? `[${name}]` : `[${name}]\n${shown}`;
}

function hint(uri: string, offset: number): string {
  return `[Truncated. Read more: read(filePath="${uri}", offset=${offset})]`;
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
