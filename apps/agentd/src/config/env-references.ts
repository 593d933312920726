import { fileProblem } from './file-problem.ts';
import { setUpError } from '../faults.ts';
import type { TomlDocument } from './toml-document.ts';

const REFERENCE = /\$\{env:([^}]*)\}/g;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Keys whose values may refer to the environment: credentials, addresses and headers (CFG-4). */
const REFERRING_KEYS: readonly (readonly string[])[] = [
  ['providers', '*', 'api_key'],
  ['providers', '*', 'access_token'],
  ['providers', '*', 'access_key_id'],
  ['providers', '*', 'secret_access_key'],
  ['providers', '*', 'session_token'],
  ['providers', '*', 'base_url'],
  ['providers', '*', 'headers', '*'],
  ['mcp', 'servers', '*', 'url'],
  ['mcp', 'servers', '*', 'headers', '*'],
  ['mcp', 'servers', '*', 'env', '*'],
  ['mcp', 'servers', '*', 'oauth', 'client_secret'],
];

/** Contract: throws a file problem for a reference that stands elsewhere or names no variable (CFG-4). */
export function checkReferences(document: TomlDocument): void {
  visit(document.value, [], (value, path) => {
    if (!value.includes('${env:')) return;
    if (!mayRefer(path)) {
      throw fileProblem(
        document.positionOf(path),
        `${path.join('.')}: \${env:NAME} may stand only in credential, url and header values`,
      );
    }
    if (namesIn(value) === undefined) {
      throw fileProblem(
        document.positionOf(path),
        `${path.join('.')}: expected \${env:NAME} with the name of a variable`,
      );
    }
  });
}

/** The variables that a value refers to; undefined where a reference is malformed. */
export function namesIn(value: string): readonly string[] | undefined {
  const names = [...value.matchAll(REFERENCE)].map(([, name = '']) => name);
  const starts = value.split('${env:').length - 1;
  return names.length === starts && names.every((name) => VARIABLE_NAME.test(name)) ? names : undefined;
}

/** Puts the variables' values in. Contract: throws a set-up error that names the missing variable and who needs it, never a value. */
export function expandReferences(
  value: string,
  environment: Readonly<Record<string, string | undefined>>,
  neededBy: string,
): string {
  return value.replaceAll(REFERENCE, (_, name: string) => {
    const found = environment[name];
    if (found !== undefined && found !== '') return found;
    throw setUpError(`the environment variable ${name} is not set: ${neededBy} needs it`);
  });
}

function mayRefer(path: readonly string[]): boolean {
  return REFERRING_KEYS.some(
    (pattern) =>
      pattern.length === path.length && pattern.every((part, index) => part === '*' || part === path[index]),
  );
}

function visit(
  value: unknown,
  path: readonly string[],
  onText: (value: string, path: readonly string[]) => void,
): void {
  if (typeof value === 'string') return onText(value, path);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) visit(child, [...path, key], onText);
}
