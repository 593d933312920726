import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AssistantPart, ModelMessage } from '@agentd/contract';
import { KEY, callsOf, collect, request, textOf, useModelServer } from './testing/bench.ts';
import { call, result, stored, user } from './testing/stored.ts';
import { anthropicTurn, chunked, type AnthropicCall } from './testing/index.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

const MARK = { type: 'ephemeral' };
const SIGNATURE = 'EqQBCgIYAhIM+/=signature==';

describe('the request on the wire', () => {
  it('marks the system text and the last message for the cache', async () => {
    server().reply(anthropicTurn({ text: 'Hi' }));
    const parameters = { type: 'object', properties: {} };
    await collect(
      await open('anthropic'),
      request({ tools: [{ name: 'read', description: 'Reads.', parameters }], maxOutputTokens: 700 }),
    );
    expect(server().requests[0]).toMatchObject({ method: 'POST', path: '/v1/messages' });
    expect(server().requests[0]?.headers).toMatchObject({
      'x-api-key': KEY,
      'anthropic-version': '2023-06-01',
    });
    expect(body()).toMatchObject({
      model: 'test-model',
      max_tokens: 700,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: MARK }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: MARK }] }],
      tools: [{ name: 'read', description: 'Reads.', input_schema: parameters }],
    });
  });

  it('limits the answer by what is known of the model where the request does not', async () => {
    server().reply(anthropicTurn({ text: 'Hi' }));
    await collect(await open('anthropic'));
    expect(body()['max_tokens']).toBe(8192);
  });

  it('answers all calls of a step in one message, errors flagged, marks on the last and where the request before ended', async () => {
    server().reply(anthropicTurn({ text: 'done' }));
    await collect(
      await open('anthropic'),
      request({
        messages: [
          user('Read both'),
          {
            role: 'assistant',
            model: 'local/test-model',
            content: [{ type: 'text', text: 'Yes.' }, call('a'), call('b')],
          },
          { role: 'tool', content: [result('a', 'AAA'), result('b', 'not_found: no b', true)] },
        ],
      }),
    );
    expect(body()['messages']).toEqual([
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
    ]);
  });

  it('replays signed and redacted thinking byte for byte, in place [field I12]', async () => {
    const thinking = { text: 'First “this”,\n then  that. ', signature: SIGNATURE };
    const calls = [{ id: 'toolu_1', name: 'read', args: { path: 'a' } }];
    server().reply(
      anthropicTurn({ thinking, redacted: 'b64+redacted/==', text: 'Reading.', calls }),
      anthropicTurn({ text: 'done' }),
    );
    const client = await open('anthropic');
    const content = stored(await collect(client));
    await collect(
      client,
      request({
        messages: [
          user('go'),
          { role: 'assistant', model: client.info.id, content },
          { role: 'tool', content: [result('toolu_1', 'AAA')] },
        ],
      }),
    );
    expect((body(1)['messages'] as object[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: thinking.text, signature: SIGNATURE },
        { type: 'redacted_thinking', data: 'b64+redacted/==' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
      ],
    });
  });

  it.each<[string, string, AssistantPart]>([
    [
      'another model made it',
      'local/other-model',
      { type: 'reasoning', text: 'hidden', provider_data: { anthropic: { signature: SIGNATURE } } },
    ],
    ['it has no signature', 'local/test-model', { type: 'reasoning', text: 'hidden' }],
  ])('leaves the whole reasoning part out when %s [field I12]', async (_, model, reasoning) => {
    server().reply(anthropicTurn({ text: 'ok' }));
    const messages: ModelMessage[] = [
      user('one'),
      { role: 'assistant', model, content: [reasoning, { type: 'text', text: 'Answer.' }] },
      user('two'),
      { role: 'assistant', model, content: [reasoning] },
      user('three'),
    ];
    await collect(await open('anthropic'), request({ messages }));
    expect(JSON.stringify(body())).not.toMatch(/hidden|signature|thinking/);
    expect(body()['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'Answer.' }] },
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: '(empty)' }] },
      { role: 'user' },
    ]);
  });

  it('holds no empty text anywhere [field I5]', async () => {
    server().reply(anthropicTurn({ text: 'ok' }));
    await collect(
      await open('anthropic'),
      request({
        system: '',
        messages: [
          { role: 'user', content: [{ type: 'text', text: '' }] },
          { role: 'assistant', model: 'm/m', content: [{ type: 'text', text: ' \n ' }, call('a')] },
          { role: 'tool', content: [result('a', ' ')] },
        ],
      }),
    );
    expect(body()['system']).toBeUndefined();
    expect(body()['messages']).toMatchObject([
      { content: [{ type: 'text', text: '(empty)' }] },
      { content: [{ type: 'tool_use' }] },
      { content: [{ type: 'tool_result', content: '(no output)' }] },
    ]);
  });
});

describe('the stream', () => {
  it('becomes reasoning with its signature, text, calls and one finish with usage [SES-10]', async () => {
    server().reply(
      anthropicTurn({
        thinking: { text: 'Let me see.', signature: SIGNATURE },
        text: 'Reading.',
        calls: [{ id: 'toolu_1', name: 'read', args: { path: 'a' } }],
        usage: {
          input_tokens: 20,
          output_tokens: 30,
          cache_read_input_tokens: 500,
          cache_creation_input_tokens: 80,
        },
      }),
    );
    const parts = await collect(await open('anthropic'));
    expect(stored(parts)).toEqual([
      { type: 'reasoning', text: 'Let me see.', provider_data: { anthropic: { signature: SIGNATURE } } },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_call', provider_call_id: 'toolu_1', tool: 'read', input: { path: 'a' } },
    ]);
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'tool_calls',
      usage: {
        input_tokens: 600,
        output_tokens: 30,
        cache_read_tokens: 500,
        cache_write_tokens: 80,
        reasoning_tokens: 0,
      },
    });
  });

  it('is the same however the bytes are split', async () => {
    const client = await open('anthropic');
    for (const sizes of [[1], [2, 1], [7], [64, 3]]) {
      server().reply(chunked(anthropicTurn({ text: 'Grüße 😀 an alle' }), ...sizes));
      expect(textOf(await collect(client))).toBe('Grüße 😀 an alle');
    }
  });

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
  ])('tells the finish reason: %s', async (stop, reason) => {
    server().reply(anthropicTurn({ text: 'x', stop }));
    expect((await collect(await open('anthropic'))).at(-1)).toMatchObject({ type: 'finish', reason });
  });

  it.each<[string, AnthropicCall[]]>([
    ['absent', [{ name: 'read' }, { name: 'write' }]],
    [
      'null',
      [
        { id: null, name: 'read' },
        { id: null, name: 'write' },
      ],
    ],
    [
      'empty',
      [
        { id: '', name: 'read' },
        { id: '', name: 'write' },
      ],
    ],
  ])('keeps calls whose ids are %s [field I4]', async (_, calls) => {
    server().reply(
      chunked(anthropicTurn({ calls: calls.map((one) => ({ ...one, args: { path: 'é' } })) }), 13),
    );
    expect(callsOf(await collect(await open('anthropic')))).toEqual([
      { type: 'tool-call', providerCallId: '', tool: 'read', input: '{"path":"é"}' },
      { type: 'tool-call', providerCallId: '', tool: 'write', input: '{"path":"é"}' },
    ]);
  });

  it.each([
    ['cut off with reason length', '{"path":"a","content":"abc', 'max_tokens', 'length'],
    ['cut off with reason tool_calls', '{"path":"a","content":"abc', 'tool_use', 'tool_calls'],
    ['with a trailing comma', '{"path":"a",}', 'tool_use', 'tool_calls'],
    ['two objects', '{"path":"a"}{"path":"b"}', 'tool_use', 'tool_calls'],
  ])('hands arguments on as the model wrote them: %s [field I13]', async (...[, args, stop, reason]) => {
    server().reply(anthropicTurn({ calls: [{ id: 'toolu_1', name: 'write', args }], stop }));
    const parts = await collect(await open('anthropic'));
    expect(callsOf(parts)).toMatchObject([{ providerCallId: 'toolu_1', input: args }]);
    expect(parts.at(-1)).toMatchObject({ reason });
  });

  it('uses the connection again after a whole turn', async () => {
    server().reply(() => anthropicTurn({ text: 'x' }));
    const client = await open('anthropic');
    for (let turn = 0; turn < 6; turn += 1) await collect(client);
    expect(server().requests).toHaveLength(6);
    expect(server().connections()).toBeLessThan(4);
  });
});
