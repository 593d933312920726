import type { JsonObject, JsonValue } from '@agentd/contract';
import type { JsonType, Shape } from './shape.ts';

/** A longer text about one field tells no model more. */
const LONGEST_DESCRIPTION = 2000;

/**
 * The JSON Schema of a shape in the subset of ARG-4, with `anyOf` for what has several forms (MCP-5); a union has no
 * other keyword but its description and default. The gateway merges unions for providers that do not take them.
 */
export function portableSchema(shape: Shape): JsonObject {
  const members = formsOf(shape).map((form) => portableSchema(form));
  const forms = [...new Map(members.map((member) => [JSON.stringify(member), member])).values()];
  const [only, ...others] = forms;
  if (only === undefined) return singleSchema(shape);
  const description = textOf(shape);
  if (others.length === 0) return { ...only, ...given({ description, default: defaultOf(shape) }) };
  return given({
    description: forms.some((form) => form['description'] === description) ? undefined : description,
    anyOf: forms,
    default: defaultOf(shape),
  });
}

/** Empty where there is one form only. */
function formsOf({ anyOf, description: _text, default: _value, ...rest }: Shape): readonly Shape[] {
  if (anyOf !== undefined) return anyOf;
  const { enum: values } = rest;
  const types = rest.types.filter(
    (type) => type !== 'null' && (values === undefined || values.some((value) => fits(value, type))),
  );
  return types.length < 2 ? [] : types.map((type) => ({ ...rest, types: [type] }));
}

function singleSchema(shape: Shape): JsonObject {
  const type = typeOf(shape);
  const values = (shape.enum ?? []).filter((value) => value !== null && fits(value, type));
  return given({
    type,
    description: textOf(shape),
    enum: values.length === 0 ? undefined : values,
    default: defaultOf(shape),
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

function defaultOf({ default: value }: Shape): JsonValue | undefined {
  return value === null ? undefined : value;
}

function textOf({ description = '', types, anyOf }: Shape): string | undefined {
  const note = types.length === 0 && anyOf === undefined ? ' (any JSON value)' : '';
  const text = description.toWellFormed();
  const cut =
    text.length > LONGEST_DESCRIPTION ? `${text.slice(0, LONGEST_DESCRIPTION).toWellFormed()}…` : text;
  const whole = `${cut}${note}`.trim();
  return whole === '' ? undefined : whole;
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
