import type { z } from 'zod';
import { isJsonObject, type JsonObject } from './json.ts';
import type { ToolSpec } from './tool.ts';

/**
 * Names each bad field of a call and what was expected there, for a model that must repair it (ARG-3): where numbers
 * have a range, the range too, whatever was wrong with the value.
 */
export function argumentProblems(
  { name, parameters }: Pick<ToolSpec, 'name' | 'parameters'>,
  error: z.ZodError,
  args: unknown,
): string {
  const problems = error.issues.map((issue) => problemText(issue, args, parameters));
  return `invalid arguments for ${name}: ${problems.join('; ')}. Call it again with arguments that fit its schema.`;
}

function problemText(issue: z.core.$ZodIssue, args: unknown, parameters: JsonObject): string {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => JSON.stringify(path === '' ? key : `${path}.${key}`));
    return `unknown field${keys.length > 1 ? 's' : ''} ${keys.join(', ')}`;
  }
  if (path === '') return `expected an object, got ${kindOf(args)}`;
  const value = valueAt(args, issue.path);
  const expected = expectedText(issue, schemaAt(parameters, issue.path));
  if (issue.code === 'invalid_type' && value === undefined) return `"${path}" is required: ${expected}`;
  return `"${path}": ${expected}, got ${shown(value)}`;
}

function expectedText(issue: z.core.$ZodIssue, schema: JsonObject): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${rangeText(schema) ?? issue.expected}`;
    case 'too_small':
      return `expected ${rangeText(schema) ?? `${issue.origin} of at least ${String(issue.minimum)}`}`;
    case 'too_big':
      // The bound of whole numbers is zod's own; no schema states it.
      if (schema['maximum'] !== undefined) return `expected ${rangeText(schema)}`;
      return `expected ${issue.origin} of at most ${String(issue.maximum)}`;
    case 'invalid_value':
      return `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    default:
      return issue.message;
  }
}

/** Of the schema of a number that has bounds: `integer of at least 1`; undefined of any other. */
function rangeText({ type, minimum, maximum }: JsonObject): string | undefined {
  if (type !== 'integer' && type !== 'number') return undefined;
  const [least, most] = [minimum, maximum].map((bound) =>
    typeof bound === 'number' ? String(bound) : undefined,
  );
  if (least !== undefined && most !== undefined) return `${type} from ${least} to ${most}`;
  if (least !== undefined) return `${type} of at least ${least}`;
  return most === undefined ? undefined : `${type} of at most ${most}`;
}

/** The part of a tool's schema that a path leads to; an empty one where it does not say. */
function schemaAt(parameters: JsonObject, path: readonly PropertyKey[]): JsonObject {
  let schema: JsonObject = parameters;
  for (const key of path) {
    const { properties, items } = schema;
    const next =
      typeof key === 'number' ? items : isJsonObject(properties) ? properties[String(key)] : undefined;
    if (!isJsonObject(next)) return {};
    schema = next;
  }
  return schema;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Long values would drown the message; their kind is enough to repair the call. */
const LONGEST_SHOWN_VALUE = 60;

function shown(value: unknown): string {
  // JSON would call NaN and the infinities null.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text === undefined || text.length > LONGEST_SHOWN_VALUE ? kindOf(value) : `${kindOf(value)} ${text}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
