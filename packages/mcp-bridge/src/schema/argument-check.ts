import { isJsonObject, type JsonValue } from '@agentd/contract';
import type { JsonType, Shape } from './shape.ts';

/** A model repairs a few fields at a time. */
const MOST_PROBLEMS = 8;
const LONGEST_SHOWN = 60;

/** What is wrong with arguments, field by field, for a model that must repair them (ARG-3, MCP-5); empty for nothing. */
export function argumentProblems(shape: Shape, args: JsonValue): readonly string[] {
  const problems: string[] = [];
  check(shape, { value: args, path: '' }, problems);
  return problems.slice(0, MOST_PROBLEMS);
}

interface Found {
  readonly value: JsonValue;
  readonly path: string;
}

function check(shape: Shape, { value, path }: Found, problems: string[]): void {
  const at = placeOf(path);
  if (shape.types.length > 0 && !shape.types.some((type) => isOf(value, type))) {
    problems.push(`${at}: expected ${shape.types.join(' or ')}, got ${shown(value)}`);
    return;
  }
  if (shape.enum !== undefined && !shape.enum.some((each) => isSame(each, value))) {
    const values = shape.enum.slice(0, 50).map((each) => JSON.stringify(each));
    problems.push(`${at}: expected one of ${values.join(', ')}, got ${shown(value)}`);
  }
  // Null has passed the types, and no member of a union is null.
  if (shape.anyOf !== undefined && value !== null) problems.push(...unionProblems(shape, { value, path }));
  else checkInside(shape, { value, path }, problems);
}

/** None where one member fits; else those of the member that was probably meant, or what no member takes. */
function unionProblems({ anyOf: members = [], ...common }: Shape, found: Found): readonly string[] {
  const perMember = members.map((member) => ({ member, problems: problemsOf(member, found) }));
  if (perMember.some(({ problems }) => problems.length === 0)) return [];
  const meant = perMember.filter(({ member }) => isMeant(member, found.value));
  const general = meant.length === 0 ? problemsOf(common, found) : [];
  if (general.length > 0) return general;
  const candidates = (meant.length === 0 ? perMember : meant).map(({ problems }) => problems);
  return candidates.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

function problemsOf(shape: Shape, found: Found): readonly string[] {
  const problems: string[] = [];
  check(shape, found, problems);
  return problems;
}

/** The types fit, and so do the choices, which often tell one member from another. */
function isMeant({ types, properties }: Shape, value: JsonValue): boolean {
  if (!types.some((type) => isOf(value, type))) return false;
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([name, given]) => {
    const choices = properties?.get(name)?.enum;
    return choices === undefined || choices.some((each) => isSame(each, given));
  });
}

function checkInside(shape: Shape, { value, path }: Found, problems: string[]): void {
  const at = placeOf(path);
  if (typeof value === 'number') checkNumber(shape, { value, at }, problems);
  if (typeof value === 'string' && [...value].length < (shape.minLength ?? 0)) {
    problems.push(`${at}: expected at least ${shape.minLength} characters, got ${shown(value)}`);
  }
  if (Array.isArray(value)) checkItems(shape, { value, path }, problems);
  else if (isJsonObject(value)) checkMembers(shape, { value, path }, problems);
}

function placeOf(path: string): string {
  return path === '' ? 'the arguments' : JSON.stringify(path);
}

function checkNumber(
  { minimum, maximum }: Shape,
  { value, at }: { readonly value: number; readonly at: string },
  problems: string[],
): void {
  if (minimum !== undefined && value < minimum)
    problems.push(`${at}: expected at least ${minimum}, got ${value}`);
  if (maximum !== undefined && value > maximum)
    problems.push(`${at}: expected at most ${maximum}, got ${value}`);
}

function checkItems({ items }: Shape, { value, path }: Found, problems: string[]): void {
  if (items === undefined) return;
  for (const [index, item] of (value as readonly JsonValue[]).entries()) {
    if (problems.length >= MOST_PROBLEMS) return;
    check(items, { value: item, path: path === '' ? `${index}` : `${path}.${index}` }, problems);
  }
}

function checkMembers(
  { properties = new Map<string, Shape>(), required = [], closed }: Shape,
  { value, path }: Found,
  problems: string[],
): void {
  const members = value as { readonly [name: string]: JsonValue };
  const full = (name: string): string => (path === '' ? name : `${path}.${name}`);
  for (const name of required) {
    if (!Object.hasOwn(members, name)) {
      const types = properties.get(name)?.types ?? [];
      problems.push(
        `${JSON.stringify(full(name))} is required${types.length === 0 ? '' : `: expected ${types.join(' or ')}`}`,
      );
    }
  }
  for (const [name, member] of Object.entries(members)) {
    if (problems.length >= MOST_PROBLEMS) return;
    const shape = properties.get(name);
    if (shape !== undefined) check(shape, { value: member, path: full(name) }, problems);
    else if (closed === true) problems.push(`unknown field ${JSON.stringify(full(name))}`);
  }
}

function isOf(value: JsonValue, type: JsonType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

function shown(value: JsonValue): string {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const text = JSON.stringify(value);
  return value === null || text.length > LONGEST_SHOWN || typeof value === 'object'
    ? kind
    : `${kind} ${text}`;
}
