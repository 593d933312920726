import type { z } from 'zod';
import { counted } from '../cli/counted.ts';
import { nearest } from '../near-match.ts';
import { fileProblem, type FilePosition } from './file-problem.ts';

/** A document that knows the places of its keys. */
export interface Placed {
  readonly value: unknown;
  readonly positionOf: (path: readonly PropertyKey[]) => FilePosition;
}

/** Checks a document against a strict schema. Contract: throws the first problem, with file, line and what was expected (CFG-2). */
export function checked<Schema extends z.ZodType>(document: Placed, schema: Schema): z.output<Schema> {
  const result = schema.safeParse(document.value);
  if (result.success) return result.data;
  const problems = result.error.issues
    .flatMap((issue) => problemsOf(issue, document.value, schema))
    .map(({ path, text }) => ({ text, position: document.positionOf(path) }));
  const [first, ...rest] = problems.toSorted((a, b) => a.position.line - b.position.line);
  if (first === undefined) throw result.error;
  const more = rest.length === 0 ? '' : ` (and ${counted(rest.length, 'more problem')} in this file)`;
  throw fileProblem(first.position, `${first.text}${more}`);
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown, schema: z.ZodType): readonly Problem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], text: unknownKey(key, path, known) }));
  }
  const name = dotted(path);
  const expected = issue.code === 'invalid_type' ? `expected ${typeText(issue.expected)}` : issue.message;
  const found = valueAt(value, path);
  if (found === undefined && path.length > 0) return [{ path, text: `${name} is missing: ${expected}` }];
  // A rule over several keys of a table says itself what it found.
  const told: unknown = issue.code === 'custom' ? issue.params?.['found'] : undefined;
  const got = typeof told === 'string' ? told : shown(found, path);
  return [{ path, text: `${name === '' ? '' : `${name}: `}${expected}, got ${got}` }];
}

function unknownKey(key: string, path: readonly PropertyKey[], known: readonly string[]): string {
  const where = path.length === 0 ? '' : ` in ${dotted(path)}`;
  const near = nearest(key, known);
  const hint = near === undefined ? `; known: ${known.join(', ')}` : `; did you mean "${near}"?`;
  return `unknown key "${key}"${where}${known.length === 0 ? '' : hint}`;
}

/** The keys that a schema knows at a path; none where it has no fixed keys. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let current: unknown = schema;
  for (const key of path) current = childSchema(unwrapped(current), key);
  const shape = shapeOf(unwrapped(current));
  return shape === undefined ? [] : Object.keys(shape);
}

interface SchemaDef {
  readonly innerType?: unknown;
  readonly valueType?: unknown;
  readonly in?: unknown;
}

function definitionOf(schema: unknown): SchemaDef {
  return (schema as { def?: SchemaDef } | undefined)?.def ?? {};
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  return (schema as { shape?: Readonly<Record<string, unknown>> } | undefined)?.shape;
}

function unwrapped(schema: unknown): unknown {
  const { innerType, in: input } = definitionOf(schema);
  return innerType === undefined && input === undefined ? schema : unwrapped(innerType ?? input);
}

function childSchema(schema: unknown, key: PropertyKey): unknown {
  return shapeOf(schema)?.[String(key)] ?? definitionOf(schema).valueType;
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map((key) => (/^[\w-]+$/.test(String(key)) ? String(key) : JSON.stringify(key))).join('.');
}

function typeText(type: string): string {
  return type === 'object' || type === 'record' ? 'a table' : type === 'array' ? 'a list' : `a ${type}`;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Longer values tell less than where they stand. */
const LONGEST_SHOWN = 40;

/** Names under which secrets may stand, at any depth. */
const SECRETIVE = /key|token|secret|password|credential|header|env|url|args/i;

/** What was found: the kind alone where a value may be a secret. */
function shown(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a table';
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`;
  if (typeof value !== 'string') return `a ${typeof value}`;
  const open = value.length <= LONGEST_SHOWN && !path.some((key) => SECRETIVE.test(String(key)));
  return open ? JSON.stringify(value) : 'a string';
}
