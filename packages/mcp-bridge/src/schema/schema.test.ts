import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';
import { argumentProblems } from './argument-check.ts';
import { portableSchema } from './portable-schema.ts';
import { readShape } from './read-shape.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const portable = (schema: unknown): JsonObject => portableSchema(readShape(schema).shape);
const property = (schema: JsonValue): JsonValue | undefined =>
  (portable(object({ x: schema }))['properties'] as JsonObject)['x'];
const droppedOf = (schema: JsonValue) => readShape(schema).dropped.map(({ path, what }) => `${path} ${what}`);

const KEYWORDS = new Set(
  'type properties required additionalProperties items enum description default minimum maximum minLength'.split(
    ' ',
  ),
);
const UNION_KEYWORDS = new Set(['anyOf', 'description', 'default']);

function expectPortable(schema: JsonObject): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'anyOf') {
      expect((value as readonly JsonObject[]).length).toBeGreaterThan(1);
      for (const member of value as readonly JsonObject[]) expectPortable(member);
      continue;
    }
    expect(KEYWORDS.has(keyword)).toBe(true);
    if (keyword === 'items') expectPortable(value as JsonObject);
    if (keyword === 'properties')
      for (const child of Object.values(value as JsonObject)) expectPortable(child as JsonObject);
  }
  if (schema['anyOf'] === undefined) expect(typeof schema['type']).toBe('string');
  else for (const keyword of Object.keys(schema)) expect(UNION_KEYWORDS.has(keyword)).toBe(true);
}

describe('schemas of MCP tools, as they are published', () => {
  it.each<[string, JsonValue, JsonValue]>([
    [
      'a plain one stays',
      { type: 'string', description: 'd', minLength: 1 },
      { type: 'string', description: 'd', minLength: 1 },
    ],
    ['a missing type is added', { description: 'd' }, { type: 'string', description: 'd (any JSON value)' }],
    [
      'a missing type comes from the values',
      { enum: [1, 2] },
      { type: 'number', enum: [1, 2], description: '(any JSON value)' },
    ],
    ['const is a choice of one', { type: 'string', const: 'a' }, { type: 'string', enum: ['a'] }],
    ['null of a union goes', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, { type: 'integer' }],
    ['nullable lists of types', { type: ['string', 'null'] }, { type: 'string' }],
    [
      'a union of choices is one choice',
      { oneOf: [{ const: 'a' }, { const: 'b' }] },
      { type: 'string', enum: ['a', 'b'], description: '(any JSON value)' },
    ],
    [
      'a list of types is a union',
      { type: ['string', 'number', 'null'], minLength: 1, minimum: 2, default: 3, description: 'd' },
      {
        description: 'd',
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'number', minimum: 2 },
        ],
        default: 3,
      },
    ],
    [
      'types that no choice has are none',
      { type: ['string', 'number'], enum: ['a', null] },
      { type: 'string', enum: ['a'] },
    ],
    [
      'bounds of safe integers say nothing',
      { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
      { type: 'integer' },
    ],
    [
      'exclusive bounds of integers',
      { type: 'integer', exclusiveMinimum: 0 },
      { type: 'integer', minimum: 1 },
    ],
    [
      'format and pattern are told',
      { type: 'string', format: 'date', pattern: '^2' },
      { type: 'string', description: '(format: date, pattern: ^2)' },
    ],
    [
      'items get a type',
      { type: 'array' },
      { type: 'array', items: { type: 'string', description: '(any JSON value)' } },
    ],
    [
      'allOf is merged',
      { allOf: [object({ a: { type: 'string' } }, { required: ['a'] }), object({ b: { type: 'number' } })] },
      object({ a: { type: 'string' }, b: { type: 'number' } }, { required: ['a'] }),
    ],
    [
      'a union stays one, and what stands beside it holds for its members',
      { description: 'd', oneOf: [{ type: 'string' }, object({ a: { type: 'number' } })], minLength: 1 },
      { description: 'd', anyOf: [{ type: 'string', minLength: 1 }, object({ a: { type: 'number' } })] },
    ],
    [
      'a union in a union is one',
      { anyOf: [{ type: 'null' }, { anyOf: [{ type: 'string' }, { type: 'boolean' }] }, { type: 'number' }] },
      { anyOf: [{ type: 'string' }, { type: 'boolean' }, { type: 'number' }] },
    ],
    [
      'a union of what is the same is none',
      { oneOf: [{ type: 'string' }, { type: 'string' }] },
      { type: 'string' },
    ],
    [
      'a union of anything is anything',
      { anyOf: [{}, { type: 'number' }] },
      { type: 'string', description: '(any JSON value)' },
    ],
    [
      'a union beside members has what all of it demands',
      {
        ...object({ b: { type: 'string' } }),
        anyOf: [
          object({ a: { type: 'string' }, k: { const: 'x', type: 'string' } }, { required: ['a', 'k'] }),
          object({ k: { const: 'y', type: 'string' } }, { required: ['k'] }),
        ],
      },
      object(
        { b: { type: 'string' }, a: { type: 'string' }, k: { type: 'string', enum: ['x', 'y'] } },
        { required: ['k'] },
      ),
    ],
  ])('%s [MCP-5] [ARG-4]', (_name, schema, expected) => {
    expect(property(schema)).toEqual(expected);
  });

  it('have references written out, also those that go round [MCP-5]', () => {
    const schema = object(
      { tree: { $ref: '#/$defs/node' }, gone: { $ref: 'https://elsewhere/x.json' } },
      { $defs: { node: object({ name: { type: 'string' }, next: { $ref: '#/$defs/node' } }) } },
    );
    const tree = (portable(schema)['properties'] as JsonObject)['tree'];
    expect(tree).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string' }, next: { type: 'object' } },
    });
    expect(droppedOf(schema)).toEqual(
      expect.arrayContaining([
        '.gone $ref https://elsewhere/x.json',
        expect.stringMatching(/next what nests deeper$/),
      ]),
    );
    expectPortable(portable(schema));
  });

  it('say what they lose, and never lose the tool [MCP-5] [field H8]', () => {
    const schema = object(
      {
        'bad name': { type: 'string' },
        x: { if: {}, type: 'string' },
        u: { anyOf: [{ type: 'string' }, object({})], oneOf: [{ type: 'string' }, { type: 'number' }] },
      },
      { required: ['bad name', 'x'], patternProperties: {}, anyOf: [object({}), object({})] },
    );
    expect(portable(schema)).toMatchObject({ type: 'object', required: ['x'] });
    expect(droppedOf(schema)).toEqual([
      ' patternProperties',
      ' property "bad name": no provider takes its name',
      '.x if',
      '.u which alternatives exclude each other',
      ' which alternatives exclude each other',
    ]);
  });

  it('are in the subset whatever a server sends [MCP-5] [ARG-4]', () => {
    const keyword = fc.constantFrom(
      ...'type properties required items anyOf oneOf allOf $ref enum const default minimum additionalProperties description'.split(
        ' ',
      ),
    );
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<JsonValue>('object', 'string', 'array', '#', '#/properties/x', null, true, 7, -1),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(keyword, tie('tree'), { maxKeys: 4 }),
        fc.dictionary(fc.constantFrom('x', 'y', '__proto__', 'a b'), tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (schema) => {
        const { shape } = readShape(schema);
        const published = portableSchema(shape);
        expect(published['type']).toBe('object');
        expectPortable(published);
        expect(isJsonObject(JSON.parse(JSON.stringify(published)))).toBe(true);
        expect(Array.isArray(argumentProblems(shape, { x: 1, y: [null] }))).toBe(true);
      }),
    );
  });

  it('are bounded, however large a server makes them [MCP-5]', () => {
    let bush: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 9; depth += 1) bush = object({ a: bush, b: bush, c: bush, d: bush });
    const { shape, dropped } = readShape(bush);
    expect(JSON.stringify(portableSchema(shape)).length).toBeLessThan(300_000);
    expect(dropped.length).toBeGreaterThan(0);
    expect(dropped.length).toBeLessThanOrEqual(50);
  });
});

describe('unions', () => {
  it('are read in a time that does not grow with their depth [MCP-5]', () => {
    let bush: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 10; depth += 1) bush = object({ p: bush });
    const members = Array.from({ length: 60 }, (_, index) => ({ ...bush, description: `${index}` }));
    const { shape } = readShape(object({ u: { anyOf: members } }));
    expect(shape.properties?.get('u')?.anyOf).toHaveLength(60);
    expectPortable(portableSchema(shape));
  });
});

describe('arguments of MCP tools', () => {
  const { shape } = readShape(
    object(
      {
        path: { type: 'string', minLength: 1 },
        depth: { anyOf: [{ type: 'integer', minimum: 0, maximum: 9 }, { type: 'null' }] },
        mode: { enum: ['fast', 'slow'] },
        tags: { type: 'array', items: { type: ['string', 'number'] } },
        where: {
          anyOf: [
            object({ kind: { const: 'page' }, page: { type: 'string' } }, { required: ['kind', 'page'] }),
            object({ kind: { const: 'top' } }, { required: ['kind'], additionalProperties: false }),
            { type: 'string', minLength: 3 },
            { type: 'null' },
          ],
        },
        inner: object({ on: { type: 'boolean' } }, { required: ['on'], additionalProperties: false }),
      },
      { required: ['path'] },
    ),
  );

  it.each<[JsonObject]>([
    [{ path: 'a' }],
    [{ path: 'a', depth: null, mode: 'fast', tags: ['x', 1], inner: { on: true } }],
    [{ path: 'a', more: [1, { of: 'that' }] }],
    [{ path: 'a', where: null }],
    [{ path: 'a', where: 'here' }],
    [{ path: 'a', where: { kind: 'page', page: 'p' } }],
  ])('that fit are taken: %j [MCP-5]', (args) => {
    expect(argumentProblems(shape, args)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [{}, '"path" is required: expected string'],
    [{ path: 5 }, '"path": expected string, got number 5'],
    [{ path: '' }, '"path": expected at least 1 characters, got string ""'],
    [{ path: 'a', depth: 10 }, '"depth": expected at most 9, got 10'],
    [{ path: 'a', depth: 1.5 }, '"depth": expected integer or null, got number 1.5'],
    [{ path: 'a', where: 7 }, '"where": expected object or string or null, got number 7'],
    [{ path: 'a', where: 'x' }, '"where": expected at least 3 characters, got string "x"'],
    [{ path: 'a', where: { kind: 'page' } }, '"where.page" is required: expected string'],
    [{ path: 'a', where: { kind: 'top', page: 'p' } }, 'unknown field "where.page"'],
    [
      { path: 'a', where: { kind: 'side' } },
      '"where.kind": expected one of "page", "top", got string "side"',
    ],
    [{ path: 'a', where: {} }, '"where.kind" is required'],
    [{ path: 'a', mode: 'quick' }, '"mode": expected one of "fast", "slow", got string "quick"'],
    [{ path: 'a', tags: ['x', true] }, '"tags.1": expected string or number, got boolean true'],
    [{ path: 'a', inner: { on: true, off: 1 } }, 'unknown field "inner.off"'],
    [{ path: 'a', inner: {} }, '"inner.on" is required: expected boolean'],
  ])('that do not fit are named: %j [MCP-5] [ARG-3]', (args, problem) => {
    expect(argumentProblems(shape, args)).toEqual([problem]);
  });
});
