import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, toolError, type AgentdError } from '@agentd/contract';
import { shownPath } from './file-failure.ts';
import { resolveTarget, type AbsentTarget, type Target } from './resolve-target.ts';

const SPACES = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
const APOSTROPHES = /[\u02b9-\u02bd\u2018\u2019\u201b\u2032\uff07]/g;

/** What was found for a name. */
export interface Found {
  readonly target: Target;
  /** Whether the name itself does not exist, and another was taken for it. */
  readonly isLookAlike: boolean;
}

/** More candidates than this are not listed one by one. */
const MAX_LISTED = 10;

/**
 * What a path leads to; where a name on it does not exist, the only one of its folder that differs from it in nothing
 * but the kind of space, the kind of apostrophe or Unicode normalization counts (FS-16). Throws `not_found` for several.
 */
export async function resolveLookAlike(path: string): Promise<Found> {
  const asked = await resolveTarget(path);
  let target = asked;
  // Each round finds one name more, so there are never more rounds than missing names.
  for (let names = asked.state === 'absent' ? asked.missing.length : 0; names > 0; names--) {
    if (target.state === 'existing') break;
    const [name = '', ...rest] = target.missing;
    const [found, ...others] = await lookAlikesOf(target, name);
    if (found === undefined) break;
    if (others.length > 0) throw several(target, name, [found, ...others]);
    target = await resolveTarget(join(target.ancestor.path, found, ...rest));
  }
  const isLookAlike = asked.state === 'absent' && target.state === 'existing';
  return { target: isLookAlike ? target : asked, isLookAlike };
}

async function lookAlikesOf({ ancestor }: AbsentTarget, name: string): Promise<readonly string[]> {
  const wanted = folded(name);
  try {
    const entries = await readdir(ancestor.path, { encoding: 'buffer' });
    return entries
      .filter((entry) => isUtf8(entry))
      .map((entry) => entry.toString('utf8'))
      .filter((entry) => entry !== name && folded(entry) === wanted)
      .toSorted();
  } catch (error) {
    // A folder that may not be listed has no look-alikes: the name is just absent.
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}

function folded(name: string): string {
  return name.normalize('NFC').replaceAll(SPACES, ' ').replaceAll(APOSTROPHES, "'");
}

function several({ ancestor }: AbsentTarget, name: string, names: readonly string[]): AgentdError {
  const listed = names.slice(0, MAX_LISTED).map(exactName);
  if (names.length > MAX_LISTED) listed.push(`${names.length - MAX_LISTED} more`);
  return toolError(
    'not_found',
    `${exactName(name)} does not exist in ${shownPath(ancestor.path)}, but ${names.length} names look like it: ${listed.join(', ')}. Give one of them exactly; \\uXXXX stands for that character.`,
  );
}

/** A name in quotes, with everything escaped that looks like something else. */
function exactName(name: string): string {
  const escaped = shownPath(name)
    .replaceAll(/[\p{M}\p{L}]/gu, (letter) =>
      /\p{M}/u.test(letter) || letter.normalize('NFD') !== letter ? escapes(letter) : letter,
    )
    .replaceAll(SPACES, escapes)
    .replaceAll(APOSTROPHES, escapes);
  return `"${escaped}"`;
}

function escapes(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
