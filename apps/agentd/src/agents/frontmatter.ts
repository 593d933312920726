import { messageOf } from '@agentd/contract';
import {
  LineCounter,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  parseDocument,
  visit,
  type Document,
} from 'yaml';
import { fileProblem, type FilePosition } from '../config/file-problem.ts';

/** The YAML head of a Markdown file, and what follows it. */
export interface Frontmatter {
  readonly value: unknown;
  readonly body: string;
  readonly positionOf: (path: readonly PropertyKey[]) => FilePosition;
  /** The entries of the table at `path`, in the file's order; none where there is no table. */
  readonly entriesOf: (path: readonly string[]) => readonly (readonly [string, unknown])[];
}

const HEAD = /^---[ \t]*\r?\n(?<yaml>(?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/;

/** Aliases could blow a small file up; nothing here needs more. */
const MAX_ALIASES = 20;

/** Contract: throws a file problem for a missing head, a syntax error or a key that stands twice. */
export function parseFrontmatter(file: string, text: string): Frontmatter {
  const source = text.replace(/^\uFEFF/, '');
  const match = HEAD.exec(source);
  if (match === null) {
    throw fileProblem(
      { file, line: 1, column: 1 },
      'expected YAML between two lines "---" at the top of the file',
    );
  }
  const lines = new LineCounter();
  const yaml = match.groups?.['yaml'] ?? '';
  const document = parseDocument(yaml, { lineCounter: lines, strict: true, merge: false });
  const place = (offset: number): FilePosition => {
    const { line, col } = lines.linePos(offset);
    // The head's first line is the file's second.
    return { file, line: line + 1, column: Math.max(1, col) };
  };
  const [error] = document.errors;
  if (error !== undefined) {
    const position = place(error.pos[0]);
    throw fileProblem(position, yamlProblem(error.message, yaml.split('\n')[position.line - 2] ?? ''));
  }
  return {
    value: valueOf(document, place),
    body: source.slice(match[0].length),
    positionOf: (path) => place(offsetOf(document, path)),
    entriesOf: (path) => entriesOf(document, path),
  };
}

/** Aliases are resolved here, so what is wrong with them shows here. */
function valueOf(document: Document, place: (offset: number) => FilePosition): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (error) {
    const hint = '; put patterns that begin with * in quotes';
    const problem = `not valid YAML: ${messageOf(error)}${hint}`;
    throw fileProblem(place(badAliasOffset(document)), problem, { cause: error });
  }
}

/** Where the first alias stands that names nothing, else the first one. */
function badAliasOffset(document: Document): number {
  const aliases: { readonly offset: number; readonly resolves: boolean }[] = [];
  visit(document, {
    Alias: (_, alias) => {
      aliases.push({ offset: alias.range?.[0] ?? 0, resolves: alias.resolve(document) !== undefined });
    },
  });
  return (aliases.find(({ resolves }) => !resolves) ?? aliases[0])?.offset ?? 0;
}

function yamlProblem(message: string, line: string): string {
  const [first = message] = message.split('\n');
  // To YAML a bare star is the name of an alias.
  const hint = /^\s*\*/.test(line) ? '; put patterns that begin with * in quotes' : '';
  return `not valid YAML: ${first.replace(/ at line \d+, column \d+:?$/, '')}${hint}`;
}

/** Where the key of a path stands, or its nearest parent. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    const offset = isMap(parent)
      ? keyOffset(parent, name)
      : nodeOffset(document.getIn(path.slice(0, length), true));
    if (offset !== undefined) return offset;
  }
  return 0;
}

function keyOffset(map: unknown, name: PropertyKey | undefined): number | undefined {
  if (!isMap(map)) return undefined;
  const pair = map.items.find(({ key }) => isScalar(key) && String(key.value) === String(name));
  return pair === undefined ? undefined : nodeOffset(pair.key);
}

function nodeOffset(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function entriesOf(document: Document, path: readonly string[]): readonly (readonly [string, unknown])[] {
  let map = resolved(document, document.contents);
  for (const name of path) map = isMap(map) ? resolved(document, map.get(name, true)) : undefined;
  if (!isMap(map)) return [];
  return map.items.filter(isPair).map((pair) => {
    const key = resolved(document, pair.key);
    const value = resolved(document, pair.value);
    return [isScalar(key) ? String(key.value) : String(key), isScalar(value) ? value.value : value] as const;
  });
}

/** An alias stands for what it names: a rule that is written with one is a rule. */
function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}
