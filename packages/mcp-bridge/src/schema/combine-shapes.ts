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
  });
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

export interface United {
  readonly shape: Shape;
  /** What the one shape no longer says, one phrase each. */
  readonly lost: readonly string[];
}

/** Any of them holds (`anyOf`, `oneOf`); what only some of them demand is not demanded. */
export function united(shapes: readonly Shape[]): United {
  const real = shapes.filter(({ types }) => !(types.length === 1 && types[0] === 'null'));
  const [only, ...others] = real;
  if (only === undefined) return { shape: { types: ['null'] }, lost: [] };
  const { shape, lost } = others.length === 0 ? { shape: only, lost: [] } : unitedReal(real);
  return { shape: real.length < shapes.length ? nullable(shape) : shape, lost };
}

function unitedReal(real: readonly Shape[]): United {
  const isAny = real.some(({ types }) => types.length === 0);
  const values = real.every((shape) => shape.enum !== undefined)
    ? [...new Set(real.flatMap((shape) => shape.enum ?? []))]
    : undefined;
  const shape = compact({
    types: isAny ? [] : [...new Set(real.flatMap(({ types }) => types))],
    description: real.map(({ description }) => description).find((text) => text !== undefined),
    enum: values,
    ...unitedMembers(real.filter(({ properties }) => properties !== undefined)),
    items: unitedItems(real.flatMap(({ items }) => (items === undefined ? [] : [items]))),
  });
  return { shape, lost: values === undefined ? ['which alternatives exclude each other'] : [] };
}

function unitedMembers(objects: readonly Shape[]): Pick<Draft, 'properties' | 'required' | 'closed'> {
  const [first] = objects;
  if (first === undefined) return {};
  const wanted = (first.required ?? []).filter((name) =>
    objects.every(({ required = [] }) => required.includes(name)),
  );
  return {
    properties: allProperties(objects, (one, other) => united([one, other]).shape),
    required: wanted,
    closed: objects.every(({ closed }) => closed === true) ? true : undefined,
  };
}

function unitedItems(items: readonly Shape[]): Shape | undefined {
  return items.length === 0 ? undefined : united(items).shape;
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
