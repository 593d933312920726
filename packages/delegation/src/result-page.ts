import { MAX_RESULT_BYTES, toolError, type JsonObject } from '@agentd/contract';
import type { ChildStatus } from './child-status.ts';
import { linesOf } from './preview.ts';

export interface PageRequest {
  /** Zero-based first line. */
  readonly offset: number;
  /** Lines. */
  readonly limit: number;
}

export interface ResultPage {
  readonly text: string;
  readonly metadata: JsonObject;
}

/**
 * One page of what a child said last (DLG-8). Throws `invalid_arguments` for an offset at or past the end, offset 0
 * apart, and `resource_limit` for a page over 2 MiB: lines are never cut (FS-2, OUT-20).
 */
export function resultPage(status: ChildStatus, text: string, { offset, limit }: PageRequest): ResultPage {
  const lines = linesOf(text.toWellFormed());
  if (offset > 0 && offset >= lines.length) throw pastTheEnd(offset, lines.length);
  const shown = lines.slice(offset, offset + limit).map((line, index) => numbered(line, offset + index + 1));
  const page = framed(status, shown);
  if (Buffer.byteLength(page) > MAX_RESULT_BYTES) throw tooLarge(status, shown, offset);
  const next = offset + shown.length;
  return {
    text: page,
    metadata: {
      offset,
      limit,
      total_lines: lines.length,
      ...(next < lines.length ? { next_offset: next } : {}),
    },
  };
}

function framed(status: ChildStatus, lines: readonly string[]): string {
  return [`<status>${status}</status>`, '<content>', ...lines, '</content>'].join('\n');
}

function numbered(line: string, number: number): string {
  return `${number}: ${line.replace(/\r?\n$/, '')}`;
}

function pastTheEnd(offset: number, count: number) {
  const has = `the result has ${count} ${count === 1 ? 'line' : 'lines'}`;
  const valid = count === 0 ? 'use offset 0' : `use an offset from 0 to ${count - 1}`;
  return toolError('invalid_arguments', `offset ${offset} is past the end: ${has}; ${valid}`);
}

function tooLarge(status: ChildStatus, lines: readonly string[], offset: number) {
  let room = MAX_RESULT_BYTES - Buffer.byteLength(framed(status, []));
  const fitting = lines.findIndex((line) => (room -= Buffer.byteLength(line) + 1) < 0);
  const repair =
    fitting === 0
      ? `line ${offset + 1} alone is over it: go on at offset ${offset + 1}`
      : `ask for a smaller limit, at most ${fitting}`;
  return toolError('resource_limit', `this page is over the limit of 2 MiB and is never cut; ${repair}`);
}
