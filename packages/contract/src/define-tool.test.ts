import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { PrepareContext, PreparedCall } from './tool.ts';

const context: PrepareContext = {
  callId: 'c',
  session: { id: 's', cwd: '/', agent: 'default' },
  turn: {},
  model: null,
};
const signal = new AbortController().signal;

function sample() {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: 'sample',
    description: 'A sample.',
    action: 'read',
    schema: z.strictObject({
      path: z.string().min(1).describe('Where.'),
      limit: z.int().min(1).default(10).describe('How many.'),
      mode: z.enum(['a', 'b']).optional(),
      items: z.array(z.strictObject({ done: z.boolean(), part: z.int().max(9).optional() })).optional(),
      share: z.number().min(0).max(1).optional(),
    }),
    prepare: async (args): Promise<PreparedCall> => {
      seen.push(args);
      return {
        permission: { action: 'read', label: args.path },
        operation: args.path,
        execute: async () => ({ output: { kind: 'single', text: '' } }),
      };
    },
  });
  return { seen, tool, prepare: (args: unknown) => tool.prepare(args, context, signal) };
}

describe('defineTool', () => {
  it('makes the JSON Schema from the schema that validates, in the portable subset [ARG-4]', () => {
    expect(sample().tool.spec.parameters).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'Where.' },
        limit: { type: 'integer', minimum: 1, default: 10, description: 'How many.' },
        mode: { type: 'string', enum: ['a', 'b'] },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { done: { type: 'boolean' }, part: { type: 'integer', maximum: 9 } },
            required: ['done'],
            additionalProperties: false,
          },
        },
        share: { type: 'number', minimum: 0, maximum: 1 },
      },
      required: ['path'],
      additionalProperties: false,
    });
  });

  it.each([
    [z.union([z.string(), z.number()]), 'a list of types at .field is not portable'],
    [
      z.union([z.strictObject({ a: z.string() }), z.string()]),
      '"anyOf" at .field is no portable schema keyword',
    ],
    [z.string().regex(/x/), '"pattern" at .field is no portable schema keyword'],
    [z.record(z.string(), z.string()), 'at .field is no portable schema keyword'],
  ])('refuses a schema that the subset cannot express: %# [ARG-4]', (field, problem) => {
    const define = (): unknown =>
      defineTool({
        name: 'odd',
        description: '',
        action: 'read',
        schema: z.strictObject({ field }),
        prepare: () => Promise.reject(new Error('unused')),
      });
    expect(define).toThrow(problem);
  });

  it('is exclusive, bounded, single and builtin unless it says otherwise [SCH-1]', () => {
    expect(sample().tool.spec).toMatchObject({
      concurrency: 'exclusive',
      truncation: 'bounded',
      output: { kind: 'single' },
      origin: 'builtin',
    });
  });

  it('fills in defaults and passes what fits', async () => {
    const { prepare, seen } = sample();
    await prepare({ path: 'x' });
    expect(seen).toEqual([{ path: 'x', limit: 10 }]);
  });

  it.each([
    [{ path: 'x', extra: 1 }, 'unknown field "extra"'],
    [{ path: 'x', a: 1, b: 2 }, 'unknown fields "a", "b"'],
    [{}, '"path" is required: expected string'],
    [{ path: 5 }, '"path": expected string, got number 5'],
    [{ path: 'x', limit: '5' }, '"limit": expected integer of at least 1, got string "5"'],
    [{ path: 'x', limit: null }, '"limit": expected integer of at least 1, got null'],
    [{ path: 'x', limit: 0 }, '"limit": expected integer of at least 1, got number 0'],
    [{ path: 'x', limit: 1.5 }, '"limit": expected integer of at least 1, got number 1.5'],
    [{ path: 'x', limit: Number.NaN }, '"limit": expected integer of at least 1, got number NaN'],
    [{ path: 'x', limit: 1e300 }, '"limit": expected int of at most 9007199254740991, got number 1e+300'],
    [{ path: 'x', share: 'all' }, '"share": expected number from 0 to 1, got string "all"'],
    [{ path: 'x', share: 2 }, '"share": expected number from 0 to 1, got number 2'],
    [{ path: 'x', items: [{ done: true, part: 'one' }] }, '"items.0.part": expected integer of at most 9'],
    [{ path: '' }, '"path": expected string of at least 1'],
    [{ path: 'x', mode: 'c' }, '"mode": expected one of "a", "b", got string "c"'],
    [{ path: 'x', items: [{ done: 'yes' }] }, '"items.0.done": expected boolean, got string "yes"'],
    [{ path: 'x', items: [{ done: true, id: 1 }] }, 'unknown field "items.0.id"'],
    [null, 'expected an object, got null'],
    [[], 'expected an object, got array'],
    ['{"path":"x"}', 'expected an object, got string'],
  ])(
    'rejects %j before anything runs and names the field and what was expected [ARG-2] [ARG-3]',
    async (args, text) => {
      const { prepare, seen } = sample();
      await expect(prepare(args)).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining(text),
      });
      expect(seen).toEqual([]);
    },
  );

  it('names every bad field at once [ARG-3]', async () => {
    await expect(sample().prepare({ limit: 'many', extra: true })).rejects.toThrow(
      /invalid arguments for sample: .*"path" is required.*"limit".*"extra"/,
    );
  });

  it('refuses a declaration with bad stream names [OUT-1]', () => {
    const define = (): unknown =>
      defineTool({
        name: 'odd',
        description: '',
        action: 'read',
        schema: z.strictObject({}),
        output: { kind: 'named', streams: ['a/b'] },
        prepare: () => Promise.reject(new Error('unused')),
      });
    expect(define).toThrow('tool odd: stream name "a/b" must be');
  });
});
