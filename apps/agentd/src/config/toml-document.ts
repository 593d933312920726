import { getStaticTOMLValue, parseTOML, type AST } from 'toml-eslint-parser';
import { messageOf } from '@agentd/contract';
import type { FilePosition } from './file-problem.ts';
import { fileProblem } from './file-problem.ts';

/** A parsed TOML file that remembers where everything stands. */
export interface TomlDocument {
  readonly value: Readonly<Record<string, unknown>>;
  /** Where the key of `path` stands; the nearest known parent's place for a path that is not in the file. */
  readonly positionOf: (path: readonly PropertyKey[]) => FilePosition;
}

type Place = AST.TOMLNode['loc']['start'];

/** Contract: throws a file problem that names file, line and column (CFG-2). */
export function parseToml(file: string, text: string): TomlDocument {
  const tree = parsed(file, text);
  const places = new Map<string, Place>();
  for (const node of tree.body[0].body) collect(node, [], places);
  for (const [key, place] of places) {
    // It would vanish into the object's prototype, out of the schema's sight.
    if (key.includes('"__proto__"')) throw fileProblem(at(file, place), 'unknown key "__proto__"');
  }
  return {
    value: getStaticTOMLValue(tree),
    positionOf: (path) => positionIn(file, places, path),
  };
}

function parsed(file: string, text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (error) {
    throw fileProblem(syntaxPosition(file, text, error), `not valid TOML: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function syntaxPosition(file: string, text: string, error: unknown): FilePosition {
  const { lineNumber = 1, column = 0 } = error as { lineNumber?: number; column?: number };
  const before = text.split('\n').slice(0, lineNumber - 1);
  const line = before.findLastIndex((candidate) => candidate.trim() !== '') + 1;
  // What is missing is noticed at the next token, which may stand lines below the place that lacks it.
  const isAbsence = column === 0 && /^Un(?:terminated|specified)/.test(messageOf(error)) && line > 0;
  return isAbsence
    ? { file, line, column: (before[line - 1] ?? '').trimEnd().length + 1 }
    : { file, line: lineNumber, column: column + 1 };
}

type Container = AST.TOMLTopLevelTable['body'][number] | AST.TOMLContentNode;

function collect(node: Container, base: readonly PropertyKey[], places: Map<string, Place>): void {
  switch (node.type) {
    case 'TOMLTable':
      note(node.resolvedKey, node.key.loc.start, places);
      for (const entry of node.body) collect(entry, node.resolvedKey, places);
      return;
    case 'TOMLKeyValue': {
      const path = [...base, ...node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))];
      note(path, node.key.loc.start, places);
      collect(node.value, path, places);
      return;
    }
    case 'TOMLInlineTable':
      for (const entry of node.body) collect(entry, base, places);
      return;
    case 'TOMLArray':
      for (const [index, element] of node.elements.entries()) {
        note([...base, index], element.loc.start, places);
        collect(element, [...base, index], places);
      }
      return;
    default:
  }
}

/** Notes the place of a path, and of its parents where they have none of their own yet. */
function note(path: readonly PropertyKey[], place: Place, places: Map<string, Place>): void {
  for (let length = 1; length <= path.length; length += 1) {
    const key = keyOf(path.slice(0, length));
    if (!places.has(key)) places.set(key, place);
  }
}

function positionIn(
  file: string,
  places: ReadonlyMap<string, Place>,
  path: readonly PropertyKey[],
): FilePosition {
  for (let length = path.length; length > 0; length -= 1) {
    const place = places.get(keyOf(path.slice(0, length)));
    if (place !== undefined) return at(file, place);
  }
  return { file, line: 1, column: 1 };
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

function at(file: string, { line, column }: Place): FilePosition {
  return { file, line, column: column + 1 };
}
