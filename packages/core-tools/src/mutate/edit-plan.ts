import { toolError, type AgentdError } from '@agentd/contract';
import type { TextEncoding } from '../target/text-encoding.ts';
import {
  isAllCrlf,
  linesOf,
  MAX_COUNTED,
  MAX_REPLACED,
  placesOf,
  withCrlf,
  type Place,
} from './text-places.ts';
import { spliced, unitBytes } from './text-units.ts';

export interface EditArguments {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

/** What an edit will do to a text. */
export interface EditPlan {
  /** Ascending, without overlap, never empty. */
  readonly places: readonly Place[];
  /** What will stand at each of them. */
  readonly replacement: string;
}

/** A short replacement at many places, or a long one at some, can outgrow what memory holds. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** The lines of more places than this are not listed one by one. */
const MAX_LISTED_LINES = 20;

/**
 * Fixes the places of an edit in a text, both in units (see `unitsOf`); `name` is what messages call the file (FS-7, FS-8). Throws `edit_not_found`,
 * `edit_ambiguous`, or `invalid_arguments` for an edit that changes nothing. Nothing is ever matched loosely but line
 * ends.
 */
export function planEdit(text: string, edit: EditArguments, name: string): EditPlan {
  const { oldString, newString, replaceAll } = edit;
  const places = placesOf(text, oldString, replaceAll ? 'separate' : 'all');
  if (places.length === 0) throw notFound(text, oldString, name);
  if (places.length > 1 && !replaceAll) throw ambiguous(text, places, name);
  if (places.length > MAX_REPLACED) throw tooMany(name);
  const replacement = isAllCrlf(text) ? withCrlf(newString) : newString;
  if (places.every(({ start, end }) => text.slice(start, end) === replacement)) throw nothingToChange();
  return { places, replacement };
}

/** Refuses arguments that are wrong whatever the file holds (FS-8). */
export function checkEditArguments({ oldString, newString }: EditArguments): void {
  if (oldString === '') {
    throw toolError(
      'invalid_arguments',
      '"oldString" is empty: give the text to replace, or use write to create or fill a file',
    );
  }
  if (oldString === newString) throw nothingToChange();
}

/** The bytes of a file after the plan; `name` is what messages call the file. */
export function editedBytes(
  bytes: Buffer,
  plan: EditPlan,
  { encoding, name }: { readonly encoding: TextEncoding; readonly name: string },
): Buffer {
  const grown = plan.places.reduce((sum, { start, end }) => sum + plan.replacement.length - (end - start), 0);
  if (bytes.length + grown * unitBytes(encoding) > MAX_RESULT_BYTES) {
    throw toolError('resource_limit', `${name} would grow over 64 MiB; nothing was changed`);
  }
  return spliced(bytes, plan, encoding);
}

/** `line 3`, `lines 3 and 8`, `lines 3, 8 and 12`; many are cut short. */
export function linesText(lines: readonly number[]): string {
  const distinct = [...new Set(lines)];
  const shown = distinct.slice(0, MAX_LISTED_LINES).map(String);
  const rest = distinct.length - shown.length;
  const items = rest > 0 ? [...shown, `${rest} more`] : shown;
  const last = items.pop() ?? '';
  return items.length === 0 ? `line ${last}` : `lines ${items.join(', ')} and ${last}`;
}

function tooMany(name: string): AgentdError {
  return toolError(
    'resource_limit',
    `oldString occurs more than ${MAX_REPLACED} times in ${name}; nothing was changed. Use bash, e.g. sed -i.`,
  );
}

function ambiguous(text: string, places: readonly Place[], name: string): AgentdError {
  const lines = linesOf(
    text,
    places.map(({ start }) => start),
  );
  return toolError(
    'edit_ambiguous',
    `oldString occurs ${places.length < MAX_COUNTED ? '' : 'at least '}${places.length} times in ${name}, on ${linesText(lines)}; nothing was changed. Add lines around it until it is unique, or set replaceAll.`,
  );
}

function notFound(text: string, oldString: string, name: string): AgentdError {
  const near = similarLines(text, oldString);
  const hint =
    near.length === 0
      ? 'Read the file again and copy the text exactly, without the "N: " prefixes.'
      : `Its first line, white space apart, is ${linesText(near)}: read there and copy the text exactly.`;
  return toolError(
    'edit_not_found',
    `oldString occurs 0 times in ${name}, on no line; nothing was changed. ${hint}`,
  );
}

/** Lines that equal the first line of `oldString` but for white space around. Only numbers: the text stays untold. */
function similarLines(text: string, oldString: string): readonly number[] {
  const wanted = oldString
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  if (wanted === undefined) return [];
  const near: number[] = [];
  // One look a line: where a line is the wanted one, its first occurrence tells.
  for (let at = text.indexOf(wanted), end = 0; at >= 0; at = end < 0 ? -1 : text.indexOf(wanted, end)) {
    end = text.indexOf('\n', at);
    const line = text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end);
    if (line.trim() === wanted) near.push(at);
    if (near.length > MAX_LISTED_LINES) break;
  }
  return linesOf(text, near);
}

function nothingToChange(): AgentdError {
  return toolError(
    'invalid_arguments',
    '"newString" equals what it would replace: there is nothing to change',
  );
}
