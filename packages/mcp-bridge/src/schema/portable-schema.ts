import type { JsonObject, JsonValue } from '@agentd/contract';
import type { JsonType, Shape } from './shape.ts';

/** A longer text about one field tells no model more. */
const LONGEST_DESCRIPTION = 2000;

/** The JSON Schema of a shape in the subset of ARG-4: one type each, and nothing that a provider does not take. */
export function portableSchema(shape: Shape): JsonObject {
  const type = typeOf(shape);
  const description = descriptionOf(shape, type);
  const values = (shape.enum ?? []).filter((value) => value !== null && fits(value, type));
  return given({
    type,
    description: description === '' ? undefined : description,
    enum: values.length === 0 ? undefined : values,
    default: shape.default === null ? undefined : shape.default,
    ...(type === 'number' || type === 'integer' ? { minimum: shape.minimum, maximum: shape.maximum } : {}),
    ...(type === 'string' ? { minLength: shape.minLength } : {}),
    ...(type === 'array' ? { items: portableSchema(shape.items ?? { types: [] }) } : {}),
    ...(type === 'object' ? membersOf(shape) : {}),
  });
}

type Draft = Readonly<Record<string, JsonValue | undefined>>;

function given(draft: Draft): JsonObject {
  const entries = Object.entries(draft).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return Object.fromEntries(entries);
}

function membersOf({ properties = new Map<string, Shape>(), required = [], closed }: Shape): Draft {
  return {
    properties: Object.fromEntries([...properties].map(([name, shape]) => [name, portableSchema(shape)])),
    required: required.length === 0 ? undefined : required,
    additionalProperties: closed === true ? false : undefined,
  };
}

/** A missing type is added (MCP-5): that of the values it may have, else text, which every provider knows. */
function typeOf({ types, enum: values }: Shape): JsonType {
  const [first] = types.filter((type) => type !== 'null');
  if (first !== undefined) return first;
  const value = values?.find((each) => each !== null);
  if (value === undefined || typeof value === 'string') return 'string';
  return Array.isArray(value) ? 'array' : (typeof value as 'number' | 'boolean' | 'object');
}

function descriptionOf({ description = '', types }: Shape, type: JsonType): string {
  const others = types.filter((each) => each !== type && each !== 'null');
  const note =
    types.length === 0
      ? ' (any JSON value)'
      : others.length === 0
        ? ''
        : ` (${[type, ...others].join(' or ')})`;
  const text = description.toWellFormed();
  const cut =
    text.length > LONGEST_DESCRIPTION ? `${text.slice(0, LONGEST_DESCRIPTION).toWellFormed()}…` : text;
  return `${cut}${note}`.trim();
}

function fits(value: JsonValue, type: JsonType): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'number':
    case 'integer':
      return typeof value === 'number';
    case 'array':
    case 'object':
    case 'null':
      return false;
    default:
      return false;
  }
}
