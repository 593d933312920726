import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock, type AssistantPart, type JsonObject, type ModelMessage } from '@agentd/contract';
import { createModelGateway } from './gateway.ts';
import { collect, request, useModelServer } from './testing/bench.ts';
import {
  anthropicTurn,
  bedrockTurn,
  cohereTurn,
  geminiTurn,
  openaiTurn,
  responsesTurn,
  type CannedReply,
} from './testing/index.ts';
import { result, stored, user } from './testing/stored.ts';
import { WIRES, type WireAdaptor } from './testing/wires.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

const SIGNATURE = 'EqQBCgIYAhIM+/=signature==';
const THOUGHT = 'First “this”,\n then  that. ';
const CALLS = [{ id: 'c1', name: 'read', args: { path: 'a' } }];

/** Plays a turn, stores it, and sends it back with a result of its call. */
async function replay(adaptor: WireAdaptor, reply: CannedReply, model = WIRES[adaptor].model) {
  server().reply(reply, WIRES[adaptor].turn({ text: 'done' }));
  const client = await open(adaptor, model);
  const content = stored(await collect(client));
  const messages: ModelMessage[] = [
    user('go'),
    { role: 'assistant', model: client.info.id, content },
    { role: 'tool', content: [result('c1', 'AAA')] },
  ];
  await collect(client, request({ messages }));
  return { content, sent: body(1) };
}

/** What stands in place of the assistant's turn. */
const items = (sent: JsonObject, field: string) => sent[field] as JsonObject[];

describe('reasoning goes back to the model that made it as it came', () => {
  it.each<[WireAdaptor, string]>([
    ['openai-responses', 'openai'],
    ['azure-openai-responses', 'azure'],
  ])('encrypted, and nothing is left to what a server stored: %s [field I12]', async (adaptor, key) => {
    const reasoning = { id: 'rs_1', encrypted: 'gAAAA+/=', summary: THOUGHT };
    const reply = responsesTurn({ reasoning, text: 'Reading.', calls: CALLS });
    const { content, sent } = await replay(adaptor, reply, 'gpt-5.4');
    expect(content[0]).toEqual({
      type: 'reasoning',
      text: THOUGHT,
      provider_data: { [key]: { itemId: 'rs_1', reasoningEncryptedContent: 'gAAAA+/=' } },
    });
    expect(sent).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(items(sent, 'input').slice(2)).toMatchObject([
      {
        type: 'reasoning',
        encrypted_content: 'gAAAA+/=',
        summary: [{ type: 'summary_text', text: THOUGHT }],
      },
      { role: 'assistant' },
      { type: 'function_call', call_id: 'c1', arguments: '{"path":"a"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'AAA' },
    ]);
    expect(JSON.stringify(sent)).not.toContain('item_reference');
  });

  it('encrypted, where there is no summary at all [field I12]', async () => {
    const reply = responsesTurn({ reasoning: { id: 'rs_1', encrypted: 'gAAAA' }, calls: CALLS });
    const { sent } = await replay('openai-responses', reply, 'gpt-5.4');
    expect(items(sent, 'input')[2]).toMatchObject({
      type: 'reasoning',
      encrypted_content: 'gAAAA',
      summary: [],
    });
  });

  it.each<[WireAdaptor, object]>([
    ['azure-openai-responses', { include: ['reasoning.encrypted_content'] }],
    ['azure-openai-chat', { max_completion_tokens: 50 }],
  ])('of a deployment of any name, where settings say that it reasons: %s', async (adaptor, expected) => {
    server().reply(WIRES[adaptor].turn({ text: 'ok' }));
    const { open: openModel } = createModelGateway({
      providers: {
        local: { adaptor, baseUrl: `${server().url}/v1`, apiKey: 'k', models: { mine: { reasoning: true } } },
      },
      environment: {},
      clock: systemClock,
    });
    await collect(await openModel('local/mine'), request({ maxOutputTokens: 50 }));
    expect(body()).toMatchObject(expected);
  });

  it.each<WireAdaptor>(['anthropic', 'anthropic-compatible'])(
    'signed, in place: %s [field I12]',
    async (adaptor) => {
      const thinking = { text: THOUGHT, signature: SIGNATURE };
      const reply = anthropicTurn({ thinking, redacted: 'b64+/==', text: 'Reading.', calls: CALLS });
      const { sent } = await replay(adaptor, reply);
      expect(items(sent, 'messages')[1]?.['content']).toEqual([
        { type: 'thinking', thinking: THOUGHT, signature: SIGNATURE },
        { type: 'redacted_thinking', data: 'b64+/==' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a' } },
      ]);
    },
  );

  it('signed, in place: aws-bedrock-converse [field I12]', async () => {
    const reasoning = { text: THOUGHT, signature: SIGNATURE };
    const reply = bedrockTurn({ reasoning, text: 'Reading.', calls: CALLS });
    const { sent } = await replay('aws-bedrock-converse', reply);
    expect(items(sent, 'messages')[1]?.['content']).toEqual([
      { reasoningContent: { reasoningText: { text: THOUGHT, signature: SIGNATURE } } },
      { text: 'Reading.' },
      { toolUse: { toolUseId: 'c1', name: 'read', input: { path: 'a' } } },
    ]);
  });

  it.each<WireAdaptor>(['google-gemini', 'google-vertex-gemini'])(
    'by the signature on the call: %s [field I12]',
    async (adaptor) => {
      const calls = [{ ...CALLS[0], name: 'read', signature: SIGNATURE }];
      const { sent } = await replay(adaptor, geminiTurn({ thought: THOUGHT, text: 'Reading.', calls }));
      const parts = items(sent, 'contents')[1]?.['parts'] as JsonObject[];
      expect(parts.at(-1)).toMatchObject({
        functionCall: { name: 'read', args: { path: 'a' } },
        thoughtSignature: SIGNATURE,
      });
    },
  );

  it.each<[WireAdaptor, CannedReply]>([
    ['openai-chat', openaiTurn({ reasoning: THOUGHT, text: 'Reading.', calls: CALLS })],
    ['azure-openai-chat', openaiTurn({ reasoning: THOUGHT, text: 'Reading.', calls: CALLS })],
    ['cohere-v2-chat', cohereTurn({ thinking: THOUGHT, text: 'Reading.', calls: CALLS })],
  ])('not at all where the wire has no place for it: %s', async (adaptor, reply) => {
    const { sent } = await replay(adaptor, reply);
    expect(JSON.stringify(sent)).not.toContain('then  that');
  });
});

describe('reasoning without what proves it', () => {
  const unsigned: AssistantPart = { type: 'reasoning', text: 'hidden' };
  const halves: Readonly<Partial<Record<WireAdaptor, AssistantPart>>> = {
    'openai-responses': { ...unsigned, provider_data: { openai: { itemId: 'rs_lost' } } },
    'azure-openai-responses': { ...unsigned, provider_data: { azure: { itemId: 'rs_lost' } } },
    'aws-bedrock-converse': { ...unsigned, provider_data: { bedrock: {} } },
    'anthropic-compatible': { ...unsigned, provider_data: { anthropic: {} } },
  };

  it.each(Object.entries(halves) as [WireAdaptor, AssistantPart][])(
    'is left out whole, by its own model too: %s [field I12]',
    async (adaptor, half) => {
      const { model } = WIRES[adaptor];
      server().reply(WIRES[adaptor].turn({ text: 'ok' }));
      const content: AssistantPart[] = [unsigned, half, { type: 'text', text: 'Answer.' }];
      const messages: ModelMessage[] = [
        user('one'),
        { role: 'assistant', model: `local/${model}`, content },
        user('two'),
      ];
      await collect(await open(adaptor), request({ messages }));
      expect(JSON.stringify(body())).not.toMatch(/hidden|rs_lost/);
      expect(JSON.stringify(body())).toContain('Answer.');
    },
  );
});

describe('usage', () => {
  const usage = (counts: readonly [number, number, number, number, number]) => {
    const [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens] = counts;
    return { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens };
  };

  it.each<[WireAdaptor, CannedReply, object]>([
    [
      'openai-responses',
      responsesTurn({
        text: 'x',
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 60 },
          output_tokens: 40,
          output_tokens_details: { reasoning_tokens: 15 },
          total_tokens: 140,
        },
      }),
      usage([100, 40, 60, 0, 15]),
    ],
    [
      'openai-chat',
      openaiTurn({
        text: 'x',
        usage: {
          prompt_tokens: 100,
          completion_tokens: 40,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 15 },
        },
      }),
      usage([100, 40, 60, 0, 15]),
    ],
    [
      'google-gemini',
      geminiTurn({
        text: 'x',
        usage: {
          promptTokenCount: 100,
          cachedContentTokenCount: 60,
          candidatesTokenCount: 25,
          thoughtsTokenCount: 15,
        },
      }),
      usage([100, 40, 60, 0, 15]),
    ],
    [
      'aws-bedrock-converse',
      bedrockTurn({
        text: 'x',
        usage: {
          inputTokens: 30,
          outputTokens: 40,
          totalTokens: 140,
          cacheReadInputTokens: 60,
          cacheWriteInputTokens: 10,
        },
      }),
      usage([100, 40, 60, 10, 0]),
    ],
    [
      'cohere-v2-chat',
      cohereTurn({
        text: 'x',
        usage: { tokens: { input_tokens: 100, output_tokens: 40 }, cached_tokens: 60 },
      }),
      usage([100, 40, 60, 0, 0]),
    ],
  ])(
    'counts the whole prompt, and reasoning with the answer: %s [SES-10]',
    async (adaptor, reply, expected) => {
      server().reply(reply);
      expect((await collect(await open(adaptor))).at(-1)).toMatchObject({ type: 'finish', usage: expected });
    },
  );
});
