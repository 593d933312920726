import type { Step } from '../session-state.ts';
import { excerpt } from './shorten.ts';

export interface KeepLimits {
  /** As many of the newest turns stay as fit in here, in tokens. */
  readonly keep: number;
  /** The last one, which no model has worked on yet, stays while it fits in here. */
  readonly room: number;
}

/** How many of the newest turns a checkpoint leaves as they are. `tokens` are those of each turn, oldest first. */
export function keptTurns(tokens: readonly number[], { keep, room }: KeepLimits): number {
  const sizes = tokens.toReversed();
  const within = (limit: number): number => {
    let left = limit;
    const end = sizes.findIndex((size) => (left -= size) < 0);
    return end === -1 ? sizes.length : end;
  };
  return Math.max(within(keep), Math.min(1, within(room)));
}

/** In characters. */
const LONGEST_SAYING = 2000;

/**
 * What a user said in some turns, oldest first: the first text, which is the task, then the newest ones that fit in
 * `maxBytes`; long ones are shortened.
 */
export function keptSayings(steps: readonly Step[], maxBytes: number): readonly string[] {
  const limit = Math.min(LONGEST_SAYING, Math.floor(maxBytes / 6));
  const [task, ...later] = steps
    .flatMap(({ said }) => said)
    .filter((text) => text.trim() !== '')
    .map((text) => excerpt(text, limit));
  if (task === undefined) return [];
  let left = maxBytes - Buffer.byteLength(task);
  const first = later.findLastIndex((text) => (left -= Buffer.byteLength(text)) < 0) + 1;
  return [task, ...later.slice(first)];
}
