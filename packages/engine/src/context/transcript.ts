import type { TurnCall } from '../call-ledger.ts';
import { resultText } from '../history.ts';
import { textOf } from '../run-ledger.ts';
import type { Step } from '../session-state.ts';
import { leadOf } from './elision.ts';
import { beginning, excerpt, shortArguments } from './shorten.ts';
import { storedOutput } from './stored-output.ts';

/** Characters of each piece. */
interface PieceLimits {
  readonly said: number;
  readonly output: number;
  readonly argument: number;
}

/** Tried in turn until the whole fits. */
const LIMITS: readonly PieceLimits[] = [
  { said: 8000, output: 2000, argument: 1000 },
  { said: 2000, output: 500, argument: 300 },
  { said: 500, output: 150, argument: 100 },
];

/**
 * Turns as text of at most `maxBytes`: long pieces are shortened, and where that is not enough the oldest turns are
 * left out. Reasoning and files are never in it (MED-9), artifact ids always.
 */
export function transcript(steps: readonly Step[], maxBytes: number): string {
  let turns: readonly string[] = [];
  for (const limits of LIMITS) {
    turns = steps.map((step) => turnText(step, limits));
    if (sizeOf(turns) <= maxBytes) return turns.join('\n\n');
  }
  return newest(turns, maxBytes);
}

function newest(turns: readonly string[], maxBytes: number): string {
  let first = turns.length;
  let left = maxBytes - 60;
  while (first > 0 && left >= Buffer.byteLength(turns[first - 1] ?? '') + 2) {
    first -= 1;
    left -= Buffer.byteLength(turns[first] ?? '') + 2;
  }
  const note = `[${first} older turns left out]`;
  return beginning([note, ...turns.slice(first)].join('\n\n'), maxBytes);
}

function sizeOf(turns: readonly string[]): number {
  return turns.reduce((sum, turn) => sum + Buffer.byteLength(turn) + 2, 0);
}

function turnText({ inputs, content, calls }: Step, limits: PieceLimits): string {
  const said = textOf(content);
  const argumentsOf = content.flatMap((part) => (part.type === 'tool_call' ? [part.input] : []));
  return [
    ...inputs.map((text) => `USER: ${excerpt(text, limits.said)}`),
    ...(said.trim() === '' ? [] : [`ASSISTANT: ${excerpt(said, limits.said)}`]),
    ...calls.map((call, index) => callText(call, argumentsOf[index], limits)),
  ].join('\n');
}

function callText(call: TurnCall, input: unknown, { output, argument }: PieceLimits): string {
  const { tool, report, marker } = call;
  const whole = marker === null ? resultText(call) : leadOf(marker);
  // A marker leads to the output: cut, it would lead nowhere.
  const text = marker === null ? excerpt(whole, output) : whole;
  const stored = text === whole ? null : storedOutput(call);
  return [
    `CALL ${tool} ${shortArguments(input, argument)}`,
    ...(report === null || report.attachments.length === 0 ? [] : ['(its files are not shown here)']),
    `RESULT (${report?.outcome ?? 'unknown'}): ${text}`,
    ...(stored === null ? [] : [`WHOLE OUTPUT: ${stored.uris.join(' ')}`]),
  ].join('\n');
}
