import type { JsonValue } from '@agentd/contract';
import type { JsonType, Shape } from './shape.ts';

/** Both hold (`allOf`, or what stands beside a reference). The first one's words count where both have some. */
export function merged(one: Shape, other: Shape): Shape {
  const properties = allProperties([one, other], merged);
  return compact({
    types: bothTypes(one.types, other.types),
    description: one.description ?? other.description,
    default: one.default ?? other.default,
    enum: bothEnums(one.enum, other.enum),
    minimum: picked(Math.max, [one.minimum, other.minimum]),
    maximum: picked(Math.min, [one.maximum, other.maximum]),
    minLength: picked(Math.max, [one.minLength, other.minLength]),
    items: bothItems(one.items, other.items),
    properties,
    required:
      properties === undefined
        ? undefined
        : [...new Set([...(one.required ?? []), ...(other.required ?? [])])],
    closed: bothClosed(one, other) ? true : undefined,
    anyOf: bothUnions(one, other),
  });
}

/**
 * A union stays one beside words and bounds, which then hold for each of its members. Beside members of an object, items
 * or another union it does not: written out, that would grow with every level.
 */
function bothUnions(one: Shape, other: Shape): readonly Shape[] | undefined {
  const [union, rest] = one.anyOf === undefined ? [other, one] : [one, other];
  const { description: _text, default: _value, ...rules } = rest;
  const isPlain = [rest.anyOf, rest.properties, rest.items, rest.closed].every((part) => part === undefined);
  return isPlain ? union.anyOf?.map((member) => merged(member, rules)) : undefined;
}

/** A closed part knows nothing of the other part's properties. */
function bothClosed(one: Shape, other: Shape): boolean {
  const speaking = [one, other].filter(
    ({ properties, closed }) => properties !== undefined || closed === true,
  );
  return speaking.length > 0 && speaking.every(({ closed }) => closed === true);
}

function bothItems(one: Shape | undefined, other: Shape | undefined): Shape | undefined {
  return one !== undefined && other !== undefined ? merged(one, other) : (one ?? other);
}

function picked(
  pick: (...values: number[]) => number,
  values: readonly (number | undefined)[],
): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length === 0 ? undefined : pick(...given);
}

/** Any of them holds (`anyOf`, `oneOf`); a union stays one where that says more than one shape does. */
export function united(shapes: readonly Shape[]): Shape {
  const members = shapes.flatMap((shape) => shape.anyOf ?? [shape]).filter((shape) => !isNull(shape));
  const whole = common(shapes);
  const isOne = members.length < 2 || whole.types.length === 0 || whole.enum !== undefined;
  return isOne ? whole : { ...whole, anyOf: members };
}

function isNull({ types }: Shape): boolean {
  return types.length === 1 && types[0] === 'null';
}

/** One shape for all of them; what only some of them demand is not demanded. */
function common(shapes: readonly Shape[]): Shape {
  const real = shapes.filter((shape) => !isNull(shape));
  const [only, ...others] = real;
  if (only === undefined) return { types: ['null'] };
  const shape = others.length === 0 ? only : commonOfReal(real);
  return real.length < shapes.length ? nullable(shape) : shape;
}

function commonOfReal(real: readonly Shape[]): Shape {
  const isAny = real.some(({ types }) => types.length === 0);
  const values = real.every((shape) => shape.enum !== undefined)
    ? [...new Set(real.flatMap((shape) => shape.enum ?? []))]
    : undefined;
  return compact({
    types: isAny ? [] : [...new Set(real.flatMap(({ types }) => types))],
    description: real.map(({ description }) => description).find((text) => text !== undefined),
    enum: values,
    ...commonMembers(real.filter(({ properties }) => properties !== undefined)),
    items: commonItems(real.flatMap(({ items }) => (items === undefined ? [] : [items]))),
  });
}

function commonMembers(objects: readonly Shape[]): Pick<Draft, 'properties' | 'required' | 'closed'> {
  const [first] = objects;
  if (first === undefined) return {};
  const wanted = (first.required ?? []).filter((name) =>
    objects.every(({ required = [] }) => required.includes(name)),
  );
  return {
    properties: allProperties(objects, (one, other) => common([one, other])),
    required: wanted,
    closed: objects.every(({ closed }) => closed === true) ? true : undefined,
  };
}

function commonItems(items: readonly Shape[]): Shape | undefined {
  return items.length === 0 ? undefined : common(items);
}

function nullable(shape: Shape): Shape {
  if (shape.types.length === 0 || shape.types.includes('null')) return shape;
  return { ...shape, types: [...shape.types, 'null'] };
}

function bothTypes(one: readonly JsonType[], other: readonly JsonType[]): readonly JsonType[] {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const both = one.filter((type) => other.includes(type) || (type === 'integer' && other.includes('number')));
  return both.length === 0 ? one : both;
}

function bothEnums(
  one: readonly JsonValue[] | undefined,
  other: readonly JsonValue[] | undefined,
): readonly JsonValue[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const both = one.filter((value) => other.includes(value));
  return both.length === 0 ? one : both;
}

function allProperties(
  shapes: readonly Shape[],
  combine: (one: Shape, other: Shape) => Shape,
): ReadonlyMap<string, Shape> | undefined {
  const all = new Map<string, Shape>();
  for (const [name, shape] of shapes.flatMap(({ properties }) => [...(properties ?? [])])) {
    const known = all.get(name);
    all.set(name, known === undefined ? shape : combine(known, shape));
  }
  return shapes.some(({ properties }) => properties !== undefined) ? all : undefined;
}

type Draft = { readonly [Key in keyof Shape]: Shape[Key] | undefined };

function compact(draft: Draft): Shape {
  const entries = Object.entries(draft).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as unknown as Shape;
}
