import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject, ModelMessage } from '@agentd/contract';
import { collect, request, useModelServer } from '../testing/bench.ts';
import { result, user } from '../testing/stored.ts';
import { WIRES, WIRE_ADAPTORS } from '../testing/wires.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

/** Long arguments that somebody shortened in the middle of an emoji. */
const CUT = `${'"quoted" \\ 👩‍🚀 '.repeat(3000)}👩`.slice(0, -1);
const input: JsonObject = {
  path: 'src/größe.ts',
  content: CUT,
  [`name ${CUT.at(-1)}`]: [{ deep: CUT }, 1, null],
};

const history: readonly ModelMessage[] = [
  user(`Write ${CUT.slice(-20)}`),
  {
    role: 'assistant',
    model: 'other/model',
    content: [
      { type: 'text', text: CUT.slice(-9) },
      { type: 'tool_call', provider_call_id: 'c1', tool: 'write', input },
    ],
  },
  { role: 'tool', content: [result('c1', `said ${CUT.slice(-20)}`)] },
];

/** Every text in a body, and in the JSON texts that it holds. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string')
    return value.startsWith('{') ? [value, ...textsOf(JSON.parse(value))] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [name, ...textsOf(child)]);
}

describe('texts that were cut in the middle of a character', () => {
  it.each(WIRE_ADAPTORS)(
    'are whole again over %s, and arguments are JSON with all of their fields [field I15]',
    async (adaptor) => {
      server().reply(WIRES[adaptor].turn({ text: 'ok' }));
      await collect(await open(adaptor), request({ system: `Be ${CUT.slice(-5)}`, messages: history }));
      const texts = textsOf(body());
      expect(texts.filter((text) => !text.isWellFormed())).toEqual([]);
      expect(texts).toEqual(expect.arrayContaining(['src/größe.ts', CUT.toWellFormed()]));
      expect(texts.filter((text) => text.endsWith('\uFFFD')).length).toBeGreaterThanOrEqual(5);
    },
  );
});
