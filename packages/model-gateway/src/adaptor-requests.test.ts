import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { collect, request, useModelServer } from './testing/bench.ts';
import { step } from './testing/stored.ts';
import { WIRES, type WireAdaptor } from './testing/wires.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

const PARAMETERS = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const TOOL = { name: 'read', description: 'Reads a file.', parameters: PARAMETERS };

/** The body of a request with a step of two calls behind it, of which the second failed. */
async function bodyOfStep(adaptor: WireAdaptor, model = WIRES[adaptor].model) {
  server().reply(WIRES[adaptor].turn({ text: 'ok' }));
  const messages = step(`local/${model}`);
  await collect(await open(adaptor, model), request({ messages, tools: [TOOL], maxOutputTokens: 99 }));
  return body();
}

const chatBody = {
  model: 'test-model',
  max_tokens: 99,
  stream: true,
  stream_options: { include_usage: true },
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Read both' },
    {
      role: 'assistant',
      content: 'Yes.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
        { id: 'b', type: 'function', function: { name: 'read', arguments: '{"path":"b"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'AAA' },
    { role: 'tool', tool_call_id: 'b', content: 'not_found: no b' },
  ],
  tools: [
    { type: 'function', function: { name: 'read', description: 'Reads a file.', parameters: PARAMETERS } },
  ],
};

const responsesBody = {
  model: 'test-model',
  max_output_tokens: 99,
  stream: true,
  store: false,
  input: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Read both' }] },
    { role: 'assistant', content: 'Yes.' },
    { type: 'function_call', call_id: 'a', name: 'read', arguments: '{"path":"a"}' },
    { type: 'function_call', call_id: 'b', name: 'read', arguments: '{"path":"b"}' },
    { type: 'function_call_output', call_id: 'a', output: 'AAA' },
    { type: 'function_call_output', call_id: 'b', output: 'not_found: no b' },
  ],
  tools: [
    { type: 'function', name: 'read', description: 'Reads a file.', parameters: PARAMETERS, strict: false },
  ],
};

/** Gemini counts: as many responses as calls, all in one content. Vertex takes no ids. */
const geminiBody = (ids: readonly ({ id: string } | object)[]) => ({
  generationConfig: { maxOutputTokens: 99 },
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Read both' }] },
    {
      role: 'model',
      parts: [
        { text: 'Yes.' },
        { functionCall: { ...ids[0], name: 'read', args: { path: 'a' } } },
        { functionCall: { ...ids[1], name: 'read', args: { path: 'b' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { ...ids[0], name: 'read', response: { name: 'read', content: 'AAA' } } },
        {
          functionResponse: { ...ids[1], name: 'read', response: { name: 'read', error: 'not_found: no b' } },
        },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'read', description: 'Reads a file.', parametersJsonSchema: PARAMETERS },
      ],
    },
  ],
});

const MARK = { type: 'ephemeral' };
const anthropicBody = (toolExtras: object) => ({
  model: 'test-model',
  max_tokens: 99,
  stream: true,
  system: [{ type: 'text', text: 'Be brief.', cache_control: MARK }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Read both', cache_control: MARK }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Yes.' },
        { type: 'tool_use', id: 'a', name: 'read', input: { path: 'a' } },
        { type: 'tool_use', id: 'b', name: 'read', input: { path: 'b' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'AAA' },
        {
          type: 'tool_result',
          tool_use_id: 'b',
          content: 'not_found: no b',
          is_error: true,
          cache_control: MARK,
        },
      ],
    },
  ],
  tools: [{ name: 'read', description: 'Reads a file.', input_schema: PARAMETERS, ...toolExtras }],
});

const CACHE_POINT = { cachePoint: { type: 'default' } };
const bedrockBody = (points: readonly object[]) => ({
  additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
  inferenceConfig: { maxTokens: 99 },
  system: [{ text: 'Be brief.' }, ...points],
  messages: [
    { role: 'user', content: [{ text: 'Read both' }, ...points] },
    {
      role: 'assistant',
      content: [
        { text: 'Yes.' },
        { toolUse: { toolUseId: 'a', name: 'read', input: { path: 'a' } } },
        { toolUse: { toolUseId: 'b', name: 'read', input: { path: 'b' } } },
      ],
    },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'a', content: [{ text: 'AAA' }] } },
        { toolResult: { toolUseId: 'b', content: [{ text: 'not_found: no b' }] } },
        ...points,
      ],
    },
  ],
  toolConfig: {
    tools: [{ toolSpec: { name: 'read', description: 'Reads a file.', inputSchema: { json: PARAMETERS } } }],
  },
});

const cohereBody = {
  model: 'test-model',
  max_tokens: 99,
  stream: true,
  messages: chatBody.messages.map((message) => {
    const { content, ...rest } = message;
    return message.role === 'assistant' ? rest : { content, ...rest };
  }),
  tools: chatBody.tools,
};

describe('a step with two calls and their results', () => {
  it.each<[WireAdaptor, object]>([
    ['anthropic', anthropicBody({ eager_input_streaming: true })],
    ['anthropic-compatible', anthropicBody({})],
    ['openai-responses', responsesBody],
    ['openai-chat', chatBody],
    ['openai-compatible', chatBody],
    ['google-gemini', geminiBody([{ id: 'a' }, { id: 'b' }])],
    ['google-vertex-gemini', geminiBody([{}, {}])],
    ['aws-bedrock-converse', bedrockBody([CACHE_POINT])],
    ['azure-openai-responses', responsesBody],
    ['azure-openai-chat', chatBody],
    ['cohere-v2-chat', cohereBody],
  ])('is written as %s wants it, and nothing else is [CFG-6]', async (adaptor, expected) => {
    expect(await bodyOfStep(adaptor)).toEqual(expected);
  });

  it.each([
    ['us.amazon.nova-pro-v1:0', true],
    ['anthropic.claude-opus-5-5', true],
    ['anthropic.claude-3-haiku-20240307-v1:0', false],
    ['meta.llama3-3-70b-instruct-v1:0', false],
  ])('marks the cache of %s on Bedrock only where the model has one: %s', async (model, isMarked) => {
    const points = isMarked ? [CACHE_POINT] : [];
    const sent = await bodyOfStep('aws-bedrock-converse', model);
    expect(sent).toMatchObject({
      system: bedrockBody(points).system,
      messages: bedrockBody(points).messages,
    });
  });

  it.each<[WireAdaptor, string]>([
    ['anthropic', 'cache_control'],
    ['anthropic-compatible', 'cache_control'],
    ['aws-bedrock-converse', 'cachePoint'],
  ])('carries at most four cache marks however long the history is (%s)', async (adaptor, mark) => {
    server().reply(WIRES[adaptor].turn({ text: 'ok' }));
    const { model } = WIRES[adaptor];
    const messages = Array.from({ length: 12 }, () => step(`local/${model}`)).flat();
    await collect(await open(adaptor), request({ messages, tools: [TOOL] }));
    const marks = JSON.stringify(body()).split(`"${mark}"`).length - 1;
    // The system text, the end of this request, and the end of the one before.
    expect(marks).toBe(3);
  });
});
