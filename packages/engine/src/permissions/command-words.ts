/** One simple command of a shell text, its leading assignments and harmless redirections removed (PERM-4). */
export interface SimpleCommand {
  /** Its words as written, one space between them. */
  readonly text: string;
  /** The same with quotes and escapes taken away: what the shell will run. */
  readonly plain: string;
}

interface Word {
  readonly raw: string;
  readonly plain: string;
}

/** A longer text is not looked into: nobody reads it either, and the patterns below stay cheap. */
const LONGEST_COMMAND = 65_536;

const BLANKS = /[ \t]+/y;
const SEPARATOR = /&&|\|\||\|&|[;\n|]|&(?!>)/y;
/** Output to `/dev/null` or to a descriptor writes no file. */
const HARMLESS_REDIRECTION = /(?:(?:\d*>>?|&>>?)[ \t]*\/dev\/null|\d*>&(?:\d+|-))(?=[ \t\n;&|]|$)/y;
const BARE = /[^\s;&|<>(){}$`'"\\]+/y;
const ESCAPED = /\\([^\n])/y;
const SINGLE_QUOTED = /'([^']*)'/y;
const DOUBLE_QUOTED = /"([^"\\$`]*(?:\\[^\n][^"\\$`]*)*)"/y;

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
/** What the shell and the loader go by when they choose and load what runs: with these a name tells nothing. */
const DECISIVE =
  /^(?:PATH|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|BASH_LOADABLES_PATH|LD_\w+|DYLD_\w+|GCONV_PATH)\+?=/;
const RESERVED: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac in function select time coproc ! [[ ]]'.split(' '),
);

/**
 * The simple commands of a shell text, or null where it is not certain that these are all: substitutions, expansions,
 * groups, keywords, comments, redirections to files and assignments that decide what a name means are left to a human.
 */
export function simpleCommands(source: string): readonly SimpleCommand[] | null {
  if (source.length > LONGEST_COMMAND || source.includes('\0')) return null;
  const groups = wordGroups(source);
  if (groups === null) return null;
  const commands: SimpleCommand[] = [];
  for (const group of groups) {
    if (group.length === 0) continue;
    const command = simpleCommand(group);
    if (command === null) return null;
    commands.push(command);
  }
  return commands.length === 0 ? null : commands;
}

function simpleCommand(words: readonly Word[]): SimpleCommand | null {
  const first = words.findIndex(({ raw }) => !ASSIGNMENT.test(raw));
  if (first === -1 || words.slice(0, first).some(({ raw }) => DECISIVE.test(raw))) return null;
  const rest = words.slice(first);
  if (RESERVED.has(rest[0]?.raw ?? '')) return null;
  return {
    text: rest.map(({ raw }) => raw).join(' '),
    plain: rest.map(({ plain }) => plain).join(' '),
  };
}

function wordGroups(source: string): readonly (readonly Word[])[] | null {
  let group: Word[] = [];
  const groups = [group];
  for (let at = 0; at < source.length;) {
    const gap = gapAt(source, at);
    if (gap > 0) {
      at += gap;
      continue;
    }
    const separator = tokenAt(SEPARATOR, source, at);
    if (separator !== null) {
      groups.push((group = []));
      at += separator[0].length;
      continue;
    }
    const word = wordAt(source, at);
    if (word === null) return null;
    group.push(word);
    at += word.raw.length;
  }
  return groups;
}

function gapAt(source: string, at: number): number {
  const token = tokenAt(BLANKS, source, at) ?? tokenAt(HARMLESS_REDIRECTION, source, at);
  return token === null ? 0 : token[0].length;
}

/** The word that starts here, or null where something stands that is no plain word. */
function wordAt(source: string, start: number): Word | null {
  if (source[start] === '#') return null;
  let plain = '';
  let at = start;
  for (;;) {
    const part = wordPartAt(source, at);
    if (part === null) break;
    plain += part.plain;
    at += part.raw.length;
  }
  return at === start ? null : { raw: source.slice(start, at), plain };
}

function wordPartAt(source: string, at: number): Word | null {
  const bare = tokenAt(BARE, source, at);
  if (bare !== null) return { raw: bare[0], plain: bare[0] };
  const quoted = tokenAt(SINGLE_QUOTED, source, at) ?? tokenAt(ESCAPED, source, at);
  if (quoted !== null) return { raw: quoted[0], plain: quoted[1] ?? '' };
  const double = tokenAt(DOUBLE_QUOTED, source, at);
  return double === null
    ? null
    : { raw: double[0], plain: (double[1] ?? '').replaceAll(/\\(["\\$`])/g, '$1') };
}

function tokenAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/** Anything in an uncertain text that may be a command; only deny rules are held against these. */
export function possibleCommands(source: string): readonly string[] {
  return source
    .split(/[;&|\n(){}<>`]/)
    .map((piece) => withoutPrefixes(piece.replaceAll(/['"\\]/g, '').trim()))
    .filter((piece) => piece !== '');
}

function withoutPrefixes(piece: string): string {
  const words = piece.split(/[ \t\r]+/);
  const first = words.findIndex((word) => !ASSIGNMENT.test(word) && !RESERVED.has(word));
  return first === -1 ? '' : words.slice(first).join(' ');
}
