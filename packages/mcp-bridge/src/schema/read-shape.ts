import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';
import { merged, united } from './combine-shapes.ts';
import { resolveReference } from './resolve-reference.ts';
import { JSON_TYPES, type Dropped, type JsonType, type Shape } from './shape.ts';

/** Nobody calls a tool with arguments deeper than this; a schema that refers to itself has no end. */
const MAX_DEPTH = 12;
/** A schema with more parts costs more than its tool can be worth, and may be an attack. */
const MAX_PARTS = 2000;

/** Providers refuse whole requests for a property with another name. */
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** Keywords whose meaning a description can carry. */
const TOLD = ['format', 'pattern', 'maxLength', 'maxItems', 'minItems'] as const;

/** Keywords that say nothing about a value, and those that are read. */
const KNOWN: ReadonlySet<string> = new Set(
  [
    'type properties required additionalProperties items enum const description default minimum maximum',
    'exclusiveMinimum exclusiveMaximum minLength nullable $ref $defs definitions anyOf oneOf allOf',
    '$schema $id $comment title examples deprecated readOnly writeOnly',
    TOLD.join(' '),
  ].flatMap((line) => line.split(' ')),
);

/** What is lost of a union that becomes one shape. */
const EXCLUSION = 'which alternatives exclude each other';

export interface ReadShape {
  readonly shape: Shape;
  readonly dropped: readonly Dropped[];
}

/** Reads a server's JSON Schema, which may be anything. Never throws; the result is always an object's shape (MCP-5). */
export function readShape(schema: unknown): ReadShape {
  const reader = new ShapeReader(isJsonObject(schema) ? schema : {});
  const found = reader.read(isJsonObject(schema) ? schema : {}, { path: '', depth: 0 });
  const isObject = found.types.length === 0 || found.types.includes('object');
  if (!isJsonObject(schema)) reader.drop('', 'a schema that is no object');
  else if (!isObject) reader.drop('', `type ${found.types.join(' or ')}: arguments are an object`);
  const { properties = new Map<string, Shape>(), anyOf, ...root } = found;
  // Providers take no union as the arguments of a tool.
  if (anyOf !== undefined) reader.drop('', EXCLUSION);
  return { shape: { ...root, types: ['object'], properties }, dropped: reader.dropped };
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

class ShapeReader {
  readonly dropped: Dropped[] = [];
  readonly #root: JsonObject;
  #parts = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  drop(path: string, what: string): void {
    if (this.dropped.length < 50) this.dropped.push({ path, what });
  }

  read(schema: JsonValue | undefined, place: Place): Shape {
    if (!isJsonObject(schema)) return { types: [] };
    this.#parts += 1;
    if (place.depth > MAX_DEPTH || this.#parts > MAX_PARTS) {
      this.drop(place.path, place.depth > MAX_DEPTH ? 'what nests deeper' : 'what is too large');
      return { types: [] };
    }
    const own = this.#own(schema, place);
    const parts = [own, ...this.#referred(schema, place), ...this.#combined(schema, place)];
    const whole = parts.reduce((one, other) => merged(one, other));
    const isMerged = whole.anyOf === undefined && parts.some(({ anyOf: members }) => members !== undefined);
    if (isMerged) this.drop(place.path, EXCLUSION);
    return whole;
  }

  #referred({ $ref: reference }: JsonObject, place: Place): readonly Shape[] {
    if (typeof reference !== 'string') return [];
    const target = resolveReference(this.#root, reference);
    if (target === undefined) {
      this.drop(place.path, `$ref ${reference}`);
      return [];
    }
    return [this.read(target, { ...place, depth: place.depth + 1 })];
  }

  #combined({ anyOf, oneOf, allOf }: JsonObject, place: Place): readonly Shape[] {
    const deeper = { ...place, depth: place.depth + 1 };
    const alternatives = [anyOf, oneOf].filter((list) => Array.isArray(list) && list.length > 0);
    const unions = alternatives.map((list) =>
      united((list as readonly JsonValue[]).map((each) => this.read(each, deeper))),
    );
    const all = Array.isArray(allOf) ? (allOf as readonly JsonValue[]) : [];
    return [...unions, ...all.map((each) => this.read(each, deeper))];
  }

  #own(schema: JsonObject, place: Place): Shape {
    for (const keyword of Object.keys(schema)) if (!KNOWN.has(keyword)) this.drop(place.path, keyword);
    const types = typesOf(schema);
    return {
      types,
      ...described(schema),
      ...('default' in schema && { default: schema['default'] }),
      ...enumOf(schema),
      ...boundsOf(schema, types),
      ...(isJsonObject(schema['items']) && {
        items: this.read(schema['items'], { path: `${place.path}[]`, depth: place.depth + 1 }),
      }),
      ...this.#members(schema, place),
    };
  }

  #members(schema: JsonObject, place: Place): Partial<Shape> {
    const { properties, required, additionalProperties } = schema;
    const closed = additionalProperties === false ? { closed: true } : {};
    if (!isJsonObject(properties)) return closed;
    const named = Object.entries(properties).filter(([name]) => {
      if (PROPERTY_NAME.test(name)) return true;
      this.drop(place.path, `property ${JSON.stringify(name.slice(0, 80))}: no provider takes its name`);
      return false;
    });
    const members = new Map(
      named.map(([name, child]) => {
        const deeper = { path: `${place.path}.${name}`, depth: place.depth + 1 };
        return [name, this.read(child, deeper)] as const;
      }),
    );
    const wanted = Array.isArray(required) ? required.map(String).filter((name) => members.has(name)) : [];
    return { ...closed, properties: members, required: [...new Set(wanted)] };
  }
}

function typesOf({ type, properties, items, nullable }: JsonObject): readonly JsonType[] {
  const claimed = (Array.isArray(type) ? type : [type]).filter((each): each is JsonType =>
    JSON_TYPES.includes(each as JsonType),
  );
  if (claimed.length > 0) return nullable === true ? [...new Set<JsonType>([...claimed, 'null'])] : claimed;
  if (isJsonObject(properties)) return ['object'];
  return isJsonObject(items) ? ['array'] : [];
}

function described(schema: JsonObject): Pick<Shape, 'description'> {
  const { description, title } = schema;
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  const rules = TOLD.flatMap((keyword) => {
    const rule = schema[keyword];
    return typeof rule === 'string' || typeof rule === 'number' ? [`${keyword}: ${rule}`] : [];
  });
  const whole = rules.length === 0 ? text : `${text}${text === '' ? '' : ' '}(${rules.join(', ')})`;
  return whole === '' ? {} : { description: whole };
}

function enumOf({ enum: values, const: value }: JsonObject): Pick<Shape, 'enum'> {
  if (Array.isArray(values) && values.length > 0) return { enum: values as readonly JsonValue[] };
  return value === undefined ? {} : { enum: [value] };
}

/** Bounds as far as they are numbers; those of safe integers say nothing. */
function boundsOf(schema: JsonObject, types: readonly JsonType[]): Partial<Shape> {
  const { minLength } = schema;
  // Only whole numbers have a next one.
  const step = types.length === 1 && types[0] === 'integer' ? 1 : 0;
  const minimum = bound(schema['minimum']) ?? shifted(schema['exclusiveMinimum'], step);
  const maximum = bound(schema['maximum']) ?? shifted(schema['exclusiveMaximum'], -step);
  return {
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(typeof minLength === 'number' && Number.isInteger(minLength) && minLength > 0 ? { minLength } : {}),
  };
}

function shifted(value: JsonValue | undefined, step: number): number | undefined {
  const found = bound(value);
  return found === undefined ? undefined : found + step;
}

function bound(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}
