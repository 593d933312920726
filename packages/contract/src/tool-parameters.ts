import { z } from 'zod';
import { AgentdError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** The keywords that every provider takes (ARG-4). */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'description',
  'default',
  'minimum',
  'maximum',
  'minLength',
]);

/**
 * The JSON Schema of a tool's arguments, in the subset of ARG-4.
 * Throws `CONTRACT_TOOL_INVALID` for a schema that the subset cannot express.
 */
export function toolParameters(schema: z.ZodObject): JsonObject {
  const full = z.toJSONSchema(schema, { io: 'input' }) as JsonObject;
  const { $schema: _dialect, ...root } = full;
  return portable(root, '');
}

function portable(schema: JsonObject, path: string): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (isSafeIntegerBound(keyword, value)) continue;
    if (!KEYWORDS.has(keyword)) {
      throw new AgentdError(
        'CONTRACT_TOOL_INVALID',
        `"${keyword}" at ${path || 'the root'} is no portable schema keyword`,
      );
    }
    if (keyword === 'type' && typeof value !== 'string') {
      throw new AgentdError(
        'CONTRACT_TOOL_INVALID',
        `a list of types at ${path || 'the root'} is not portable`,
      );
    }
    entries.push([keyword, portableValue(keyword, value, path)]);
  }
  return Object.fromEntries(entries);
}

/** zod writes the bounds of safe integers out; they say nothing to a model. */
function isSafeIntegerBound(keyword: string, value: JsonValue): boolean {
  return (
    (keyword === 'minimum' || keyword === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
  );
}

function portableValue(keyword: string, value: JsonValue, path: string): JsonValue {
  if (keyword === 'items' && isJsonObject(value)) return portable(value, `${path}[]`);
  if (keyword !== 'properties' || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, portable(child as JsonObject, `${path}.${name}`)]),
  );
}
