import { MAX_RESULT_BYTES, toolError, type AgentdError, type JsonObject } from '@agentd/contract';
import { shownPath } from '../target/file-failure.ts';

/** One page of a result: what the model reads and what stands beside it. */
export interface Page {
  readonly text: string;
  readonly metadata: JsonObject;
}

export interface PageRequest {
  /** Zero-based first line or entry. */
  readonly offset: number;
  /** Lines or entries. */
  readonly limit: number;
}

type Frame = 'file' | 'directory';

const TAGS: Readonly<Record<Frame, string>> = { file: 'content', directory: 'entries' };

/** The frame of FS-2 and FS-3: path, type, then one line or entry a line. */
export function framed(frame: Frame, path: string, lines: readonly string[]): string {
  return [...opening(frame, path), ...lines, `</${TAGS[frame]}>`].join('\n');
}

/** What lines and their ends may take, so that the whole page stays within 2 MiB (OUT-20). */
export function roomFor(frame: Frame, path: string): number {
  return MAX_RESULT_BYTES - Buffer.byteLength(framed(frame, path, [])) - 1;
}

/** An offset at or past the end; `what` is plural, e.g. `lines` (FS-4). */
export function pastTheEnd(
  path: string,
  offset: number,
  { count, what }: { count: number; what: string },
): AgentdError {
  const noun = count === 1 ? what.replace(/ies$/, 'y').replace(/s$/, '') : what;
  const valid = count === 0 ? 'use offset 0' : `use an offset from 0 to ${count - 1}`;
  return toolError(
    'invalid_arguments',
    `offset ${offset} is past the end: ${shownPath(path)} has ${count} ${noun}; ${valid}`,
  );
}

/** Only the first `fitting` lines or entries of the page are within the bound. */
export function pageTooLarge(fitting: number): AgentdError {
  return toolError(
    'resource_limit',
    `this page is over the limit of 2 MiB and is never cut; ask for a smaller limit, at most ${fitting}`,
  );
}

function opening(frame: Frame, path: string): readonly string[] {
  return [`<path>${shownPath(path)}</path>`, `<type>${frame}</type>`, `<${TAGS[frame]}>`];
}
