import { messageOf } from '@agentd/contract';
import type { EventEnvelope } from '@agentd/contract';
import { envelopeProblem } from './event-shape.ts';
import { LineSplitter, type SplitLine } from './line-splitter.ts';
import type { LogContent, LogDiagnostic } from './ports.ts';

/** The end of a file after its last line end. */
export interface LogTail {
  /** Bytes before it. */
  readonly offset: number;
  /** The text is a whole event that lacks only its line end, and is among `events`. */
  readonly whole: boolean;
}

export interface ParsedLog extends LogContent {
  /** Null where the file ends with a line end, as it should. */
  readonly tail: LogTail | null;
  /** The highest number that was seen, 0 without any. */
  readonly lastSeq: number;
}

type Parsed = { readonly event: EventEnvelope; readonly note: string | null } | { readonly problem: Problem };
type Problem = Pick<LogDiagnostic, 'kind' | 'message'>;

/** A number that leaps further is damaged. Numbering goes on after the highest one, so each leap must leave room. */
const LARGEST_GAP = 2 ** 40;

const KEPT = 'the line stays in the file and is passed over';

/**
 * Reads a log in chunks of any size and goes on after whatever it meets (SES-3).
 *   P1. Every line that holds a sound envelope becomes an event, in file order, also of a type nobody knows.
 *   P2. Every other line gets one diagnostic with its number; nothing is changed.
 *   P3. Memory beyond the events is bounded by the longest line that can be an event.
 */
export class SessionLogParser {
  readonly #lines = new LineSplitter();
  readonly #events: EventEnvelope[] = [];
  readonly #diagnostics: LogDiagnostic[] = [];
  /** Made when a number first repeats: what is read by then has each number once. */
  #bySeq: Map<number, EventEnvelope> | null = null;
  #lastSeq = 0;

  /** Events so far. */
  get count(): number {
    return this.#events.length;
  }

  push(chunk: Uint8Array): void {
    for (const line of this.#lines.push(chunk)) this.#take(line);
  }

  end(): ParsedLog {
    const rest = this.#lines.end();
    const tail = rest === null ? null : { offset: rest.offset, whole: this.#takeTail(rest) };
    return { events: this.#events, diagnostics: this.#diagnostics, tail, lastSeq: this.#lastSeq };
  }

  #take(line: SplitLine): void {
    const parsed = parseLine(line);
    if ('problem' in parsed) return this.#report(line, parsed.problem.kind, parsed.problem.message);
    if (parsed.note !== null) this.#report(line, 'malformed_line', parsed.note);
    this.#admit(parsed.event, line);
  }

  #takeTail(rest: SplitLine): boolean {
    const parsed = parseLine(rest);
    if ('event' in parsed) {
      this.#admit(parsed.event, rest);
      return true;
    }
    this.#report(rest, 'torn_tail', `the last line breaks off after ${rest.length} bytes and is no event`);
    return false;
  }

  #admit(event: EventEnvelope, line: SplitLine): void {
    const { seq } = event;
    if (seq <= this.#lastSeq && this.#repeats(event, line)) return;
    if (seq > this.#lastSeq + LARGEST_GAP) {
      const message = `event ${seq} cannot follow event ${this.#lastSeq}; ${KEPT}`;
      return this.#report(line, 'unknown_shape', message);
    }
    if (seq > this.#lastSeq + 1) {
      const missing = seq - this.#lastSeq - 1;
      const from = this.#lastSeq + 1;
      const numbers = missing === 1 ? `event ${from} is` : `events ${from} to ${seq - 1} are`;
      this.#report(line, 'sequence_gap', `${numbers} missing`);
    }
    this.#bySeq?.set(seq, event);
    this.#events.push(event);
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  /** Whether the event is there already. One with the number of another is kept as well, in file order (field J17). */
  #repeats(event: EventEnvelope, line: SplitLine): boolean {
    const { seq } = event;
    this.#bySeq ??= new Map(this.#events.map((earlier) => [earlier.seq, earlier]));
    const earlier = this.#bySeq.get(seq);
    if (earlier === undefined) {
      this.#report(line, 'sequence_gap', `event ${seq} comes after event ${this.#lastSeq}`);
      return false;
    }
    const isSame = JSON.stringify(earlier) === JSON.stringify(event);
    const what = isSame
      ? 'is there twice; once counts'
      : 'is there twice with different content; both are kept';
    this.#report(line, 'sequence_repeated', `event ${seq} ${what}`);
    return isSame;
  }

  #report({ number }: SplitLine, kind: LogDiagnostic['kind'], message: string): void {
    this.#diagnostics.push({ kind, line: number, message: `line ${number}: ${message}` });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseLine({ bytes, length }: SplitLine): Parsed {
  if (bytes === null) return malformed(`${length} bytes are too long for an event`);
  const solid = withoutNuls(bytes);
  const nuls = bytes.length - solid.length;
  if (solid.length === 0) return malformed(nuls === 0 ? 'an empty line' : `${nuls} NUL bytes and no event`);
  const value = parseJson(solid);
  if ('problem' in value) return value;
  const problem = envelopeProblem(value.json);
  if (problem !== undefined) return { problem: { kind: 'unknown_shape', message: `${problem}; ${KEPT}` } };
  const note = nuls === 0 ? null : `${nuls} NUL bytes around the event are passed over`;
  return { event: value.json as EventEnvelope, note };
}

function parseJson(bytes: Uint8Array): { readonly json: unknown } | { readonly problem: Problem } {
  try {
    return { json: JSON.parse(utf8.decode(bytes)) };
  } catch (error) {
    return malformed(`no JSON (${messageOf(error).slice(0, 120)})`);
  }
}

function malformed(what: string): { readonly problem: Problem } {
  return { problem: { kind: 'malformed_line', message: `${what}; ${KEPT}` } };
}

/** After a power cut a file can hold NULs where data was to come; what was appended later follows them directly. */
function withoutNuls(bytes: Uint8Array): Uint8Array {
  let start = 0;
  let end = bytes.length;
  while (start < end && bytes[start] === 0) start++;
  while (end > start && bytes[end - 1] === 0) end--;
  return bytes.subarray(start, end);
}
