import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';
import { collect, request, useModelServer } from './testing/bench.ts';
import { WIRES, type WireAdaptor } from './testing/wires.ts';
import { toolsFor } from './wire/tool-schemas.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const tool = (parameters: JsonObject) => ({ name: 'find', description: 'Finds.', parameters });

const UNION = {
  description: 'Where.',
  anyOf: [{ type: 'string', minLength: 1 }, object({ id: { type: 'integer' } })],
};
const MERGED = { type: 'string', minLength: 1, description: 'Where. (string or object)' };

/** What stands under a name, wherever that is. */
function under(name: string, value: JsonValue): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isJsonObject(value) && value[name] !== undefined) return value[name];
  return Object.values(value)
    .map((each: JsonValue) => under(name, each))
    .find((found) => found !== undefined);
}

describe('a parameter with several forms', () => {
  it.each<[WireAdaptor, JsonObject]>([
    ['anthropic', UNION],
    ['anthropic-compatible', MERGED],
    ['openai-responses', UNION],
    ['openai-chat', UNION],
    ['openai-compatible', MERGED],
    ['google-gemini', UNION],
    ['google-vertex-gemini', UNION],
    ['aws-bedrock-converse', MERGED],
    ['azure-openai-responses', UNION],
    ['azure-openai-chat', UNION],
    ['cohere-v2-chat', MERGED],
  ])('reaches %s as the family takes it [MCP-5]', async (adaptor, expected) => {
    server().reply(WIRES[adaptor].turn({ text: 'ok' }));
    const parameters = object({ place: UNION, places: { type: 'array', items: UNION } });
    await collect(await open(adaptor), request({ tools: [tool(parameters)] }));
    const sent = body();
    expect(under('place', sent)).toEqual(expected);
    expect(under('places', sent)).toEqual({ type: 'array', items: expected });
  });

  const merged = (property: JsonObject): JsonValue | undefined => {
    const [sent] = toolsFor('openai-compatible', [tool(object({ x: property }))]);
    return under('x', sent?.parameters ?? {});
  };
  const text = (...choices: readonly string[]): JsonObject => ({ type: 'string', enum: choices });

  it.each<[string, JsonObject, JsonObject]>([
    ['what is no union stays', { type: 'string', description: 'd' }, { type: 'string', description: 'd' }],
    ['choices of one type are one choice', { anyOf: [text('a'), text('b')] }, text('a', 'b')],
    [
      'choices of one type rule no other out',
      { anyOf: [text('auto'), { type: 'integer', description: 'd' }], default: 1 },
      { type: 'string', description: 'd (string or integer)', default: 1 },
    ],
    [
      'bounds that differ go',
      { anyOf: [{ type: 'string', minLength: 1 }, { type: 'string' }] },
      { type: 'string' },
    ],
    [
      'objects have what all of them demand, and know what any of them knows',
      {
        anyOf: [
          object({ kind: text('a'), n: { type: 'number', minimum: 1 } }, { required: ['kind', 'n'] }),
          object({ kind: text('b'), n: { type: 'number', minimum: 1 } }, { required: ['kind'] }),
        ],
      },
      object({ kind: text('a', 'b'), n: { type: 'number', minimum: 1 } }, { required: ['kind'] }),
    ],
    [
      'objects are closed where all of them are',
      {
        anyOf: [
          object({}, { additionalProperties: false }),
          object({ b: text() }, { additionalProperties: false }),
        ],
      },
      object({ b: text() }, { additionalProperties: false }),
    ],
    [
      'lists have items of any of the kinds',
      {
        anyOf: [
          { type: 'array', items: { type: 'number' } },
          { type: 'array', items: UNION },
        ],
      },
      {
        type: 'array',
        items: { type: 'number', description: 'Where. (string or object) (number or string)' },
      },
    ],
  ])('is merged where a family does not take it: %s [MCP-5]', (_name, property, expected) => {
    expect(merged(property)).toEqual(expected);
  });

  it('is merged for a family that nobody knows [MCP-5]', () => {
    const [sent] = toolsFor('of-tomorrow', [tool(object({ x: UNION }))]);
    expect(sent?.parameters).toEqual(object({ x: MERGED }));
  });
});
