import { readFile } from 'node:fs/promises';
import { codeOf } from '@agentd/contract';
import type { EngineEvent, RunEnd } from '@agentd/engine';
import { overlapMs, type WatchedCall } from './call-watch.ts';
import { COUNTED, EXPECTED_NOTE, FLOOD, LETTERS, type DemoPaths } from './demo-script.ts';

export interface DemoFacts {
  readonly end: RunEnd;
  /** Of the root. */
  readonly calls: readonly WatchedCall[];
  /** Of the whole tree. */
  readonly events: readonly EngineEvent[];
  readonly paths: DemoPaths;
}

/** Turns that the root has at least, and its calls; what wakes it may come in one turn more or in several. */
const TURNS = 10;
const CALLS = 13;
/** Lets the root read what still comes. */
const MOST_TURNS = 13;

/** Less than this is no overlap that anybody could see. */
const LEAST_OVERLAP_MS = 500;

/** What did not happen as it should have; empty for a demo that was what it says. */
export async function disappointments({ end, calls, events, paths }: DemoFacts): Promise<readonly string[]> {
  const [listing, , left, right, written, edited, denied, flood, next, middle] = calls;
  const overlap = left === undefined || right === undefined ? 0 : overlapMs(left, right);
  const note = await readFile(`${paths.scratch}/plan.md`, 'utf8').catch((error: unknown) => codeOf(error));
  const forbidden = await readFile(paths.forbidden, 'utf8').catch((error: unknown) => codeOf(error));
  const expectations: readonly (readonly [string, boolean])[] = [
    ['the run completed', end.status === 'completed'],
    [`it took ${TURNS} turns and at most three more`, end.turns >= TURNS && end.turns <= MOST_TURNS],
    [`${CALLS} calls were made`, calls.length === CALLS && end.toolCalls === CALLS],
    ['the listing names README.md', textOf(listing).includes('README.md')],
    ['the two commands overlapped', overlap >= LEAST_OVERLAP_MS],
    ['write and edit completed', [written, edited].every((call) => call?.end?.outcome === 'completed')],
    ['the scratch file holds what was written', note === EXPECTED_NOTE],
    ['exactly one call was denied', end.denials === 1 && denied?.end?.error?.code === 'permission_denied'],
    ['the denied call had no effect', forbidden === 'ENOENT'],
    ['the long output was cut and stored whole', isStoredWhole(flood)],
    ['the hint led to the first unseen line', textOf(next).startsWith(measurement(unseenLine(flood)))],
    ...togetherness(calls.slice(10), events),
    ['the unseen middle was found', textOf(middle).includes(`measurement ${FLOOD.oddLine}: FAILED`)],
  ];
  return expectations.filter(([, holds]) => !holds).map(([what]) => what);
}

/** Two subagents, a message each way, and a result that came by itself. */
function togetherness(
  [waited, behind, sent]: readonly WatchedCall[],
  events: readonly EngineEvent[],
): readonly (readonly [string, boolean])[] {
  const read = events.flatMap(({ payload }) => messageText(payload));
  const once = (text: string): boolean => read.filter((one) => one.includes(text)).length === 1;
  const notice = /\[subagent session explore_[0-9a-f]{8}; completed; 1 line; full output shown\]$/;
  return [
    ['a subagent was waited for', notice.test(textOf(waited))],
    ['another one began in the background', textOf(behind).startsWith('Subagent started.')],
    ['its result came by itself, once', once(COUNTED)],
    ['the message was accepted', textOf(sent).includes('waking_finished')],
    ['the question was read, once', once(LETTERS.question)],
    ['the answer was read, once', once(LETTERS.answer)],
  ];
}

/** Packages write events beside the engine's. */
function messageText(payload: { readonly type: string; readonly text?: unknown }): readonly string[] {
  return payload.type === 'message_claimed' ? [String(payload.text)] : [];
}

function textOf(call: WatchedCall | undefined): string {
  return call?.end?.result?.text ?? '';
}

function isStoredWhole(call: WatchedCall | undefined): boolean {
  const retained = call?.end?.result?.retained_output;
  const [stdout] = retained?.streams ?? [];
  return retained?.incomplete === false && stdout?.truncated === true && stdout.line_count === FLOOD.lines;
}

function unseenLine(call: WatchedCall | undefined): number {
  return call?.end?.result?.retained_output?.streams[0]?.next_offset ?? -1;
}

/** The output's line at a zero-based offset. */
function measurement(offset: number): string {
  return `measurement ${offset + 1}: ok\n`;
}

/** Bytes of the artifacts that the calls refer to, each counted once. */
export function storedBytes(calls: readonly WatchedCall[]): number {
  const streams = calls.flatMap((call) => call.end?.result?.retained_output?.streams ?? []);
  const sizes = new Map(streams.map(({ sha256, byte_length: bytes }) => [sha256, bytes]));
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}
