import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ModelMessage } from '@agentd/contract';
import { KEY, callsOf, collect, request, textOf, useModelServer } from './testing/bench.ts';
import { chunked, eventStream, openaiTurn, type OpenaiCall } from './testing/index.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

const READ_TOOL = {
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

describe('the request on the wire', () => {
  it('is a streamed chat completion with system text, tools and usage', async () => {
    server().reply(openaiTurn({ text: 'Hi' }));
    await collect(await open('openai-compatible'), request({ tools: [READ_TOOL], maxOutputTokens: 500 }));

    expect(server().requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(server().requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(body()).toEqual({
      model: 'test-model',
      max_tokens: 500,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'read', description: 'Reads a file.', parameters: READ_TOOL.parameters },
        },
      ],
    });
  });

  it('answers all calls of a step in call order, errors included', async () => {
    server().reply(openaiTurn({ text: 'done' }));
    const call = (id: string, input: object) => ({
      type: 'tool_call' as const,
      provider_call_id: id,
      tool: 'read',
      input: input as { path: string },
    });
    const result = (id: string, text: string, is_error: boolean) => ({
      type: 'tool_result' as const,
      provider_call_id: id,
      tool: 'read',
      text,
      is_error,
    });
    await collect(
      await open('openai-compatible'),
      request({
        messages: [
          user('Read both'),
          {
            role: 'assistant',
            model: 'local/test-model',
            content: [
              { type: 'reasoning', text: 'Both, then.' },
              { type: 'text', text: 'Reading.' },
              call('c1', { path: 'a' }),
              call('c2', { path: 'b' }),
            ],
          },
          { role: 'tool', content: [result('c1', 'AAA', false), result('c2', 'not_found: no b', true)] },
        ],
      }),
    );
    expect(body()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Read both' },
      {
        role: 'assistant',
        content: 'Reading.',
        reasoning_content: 'Both, then.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
          { id: 'c2', type: 'function', function: { name: 'read', arguments: '{"path":"b"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'AAA' },
      { role: 'tool', tool_call_id: 'c2', content: 'not_found: no b' },
    ]);
  });

  it('leaves the reasoning and the provider data of another model out [field I12]', async () => {
    server().reply(openaiTurn({ text: 'ok' }));
    const google = { google: { thoughtSignature: 'abc' } };
    await collect(
      await open('openai-compatible'),
      request({
        messages: [
          user('one'),
          {
            role: 'assistant',
            model: 'other/model',
            content: [
              { type: 'reasoning', text: 'secret thoughts', provider_data: google },
              { type: 'text', text: 'answer' },
              { type: 'tool_call', provider_call_id: 'c', tool: 't', input: {}, provider_data: google },
            ],
          },
          {
            role: 'tool',
            content: [{ type: 'tool_result', provider_call_id: 'c', tool: 't', text: 'r', is_error: false }],
          },
        ],
      }),
    );
    expect(JSON.stringify(body())).not.toMatch(/secret thoughts|thought_signature|abc/);
  });

  it('sends valid JSON for a call whose arguments were none [field I13]', async () => {
    server().reply(openaiTurn({ text: 'ok' }));
    const cut = { provider_call_id: 'c', tool: 't', input: {}, raw_input: '{"path":"a","content":"abc' };
    await collect(
      await open('openai-compatible'),
      request({
        messages: [
          user('go'),
          { role: 'assistant', model: 'local/test-model', content: [{ type: 'tool_call', ...cut }] },
          {
            role: 'tool',
            content: [
              { type: 'tool_result', provider_call_id: 'c', tool: 't', text: 'cut off', is_error: true },
            ],
          },
        ],
      }),
    );
    expect(body()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { tool_calls: [{ function: { name: 't', arguments: '{}' } }] },
      { role: 'tool', content: 'cut off' },
    ]);
  });

  it('holds no empty text anywhere [field I5]', async () => {
    server().reply(openaiTurn({ text: 'ok' }));
    const call = { type: 'tool_call' as const, provider_call_id: 'c', tool: 't', input: 'not an object' };
    await collect(
      await open('openai-compatible'),
      request({
        system: ' \n',
        messages: [
          { role: 'user', content: [{ type: 'text', text: ' ' }] },
          { role: 'assistant', model: 'local/test-model', content: [{ type: 'text', text: '\n\n' }] },
          {
            role: 'user',
            content: [
              { type: 'text', text: '' },
              { type: 'text', text: 'go on' },
            ],
          },
          { role: 'assistant', model: 'local/test-model', content: [{ type: 'text', text: '' }, call] },
          {
            role: 'tool',
            content: [{ type: 'tool_result', provider_call_id: 'c', tool: 't', text: '', is_error: false }],
          },
        ],
      }),
    );
    expect(body()['messages']).toEqual([
      { role: 'user', content: '(empty)' },
      { role: 'assistant', content: '(empty)' },
      { role: 'user', content: 'go on' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 't', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '(no output)' },
    ]);
  });
});

describe('the stream', () => {
  it('becomes text, reasoning, calls and one finish with usage [SES-10]', async () => {
    server().reply(
      openaiTurn({
        reasoning: 'Let me see.',
        text: 'Reading it now.',
        calls: [{ id: 'c1', name: 'read', args: { path: 'a' } }],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 40,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 15 },
        },
      }),
    );
    const parts = await collect(await open('openai-compatible'));
    expect(textOf(parts, 'reasoning-delta')).toBe('Let me see.');
    expect(textOf(parts)).toBe('Reading it now.');
    expect(callsOf(parts)).toEqual([
      { type: 'tool-call', providerCallId: 'c1', tool: 'read', input: '{"path":"a"}' },
    ]);
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'tool_calls',
      usage: {
        input_tokens: 100,
        output_tokens: 40,
        cache_read_tokens: 60,
        cache_write_tokens: 0,
        reasoning_tokens: 15,
      },
    });
  });

  it('counts zeros where the server reports no usage [SES-10]', async () => {
    server().reply(openaiTurn({ text: 'x', usage: {} }));
    const usage = {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
    };
    expect((await collect(await open('openai-compatible'))).at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage,
    });
  });

  it('is the same however the bytes are split', async () => {
    const reply = openaiTurn({
      text: 'Grüße 😀 an “alle”\n\nund “noch” mehr',
      calls: [{ name: 'say', args: { text: 'é😀\n' } }],
    });
    const client = await open('openai-compatible');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
        async (sizes) => {
          server().reply(chunked(reply, ...sizes));
          const parts = await collect(client);
          expect(textOf(parts)).toBe('Grüße 😀 an “alle”\n\nund “noch” mehr');
          expect(callsOf(parts)).toMatchObject([{ tool: 'say', input: '{"text":"é😀\\n"}' }]);
        },
      ),
      { numRuns: 15 },
    );
  });

  it.each<[string, string, string]>([
    ['length', 'length', 'length'],
    ['content_filter', 'content_filter', 'content_filter'],
    ['a word of its own', 'eos_token', 'other'],
  ])('tells the finish reason: %s', async (_, finish, reason) => {
    server().reply(openaiTurn({ text: 'x', finish }));
    expect((await collect(await open('openai-compatible'))).at(-1)).toMatchObject({ type: 'finish', reason });
  });

  it('says tool_calls where a server says stop although it calls', async () => {
    server().reply(openaiTurn({ calls: [{ id: 'c', name: 'read' }], finish: 'stop' }));
    expect((await collect(await open('openai-compatible'))).at(-1)).toMatchObject({ reason: 'tool_calls' });
  });

  it('gives parts apart ids of their own although the package uses its ids again', async () => {
    const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
    server().reply(
      eventStream([
        delta({ content: 'one' }),
        delta({ reasoning_content: 'hm' }),
        delta({ content: 'two' }),
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ]),
    );
    const parts = await collect(await open('openai-compatible'));
    expect(parts.slice(0, 3)).toEqual([
      { type: 'text-delta', id: '0', text: 'one' },
      { type: 'reasoning-delta', id: '1', text: 'hm' },
      { type: 'text-delta', id: '2', text: 'two' },
    ]);
  });
});

describe('tool calls that are not as they should be', () => {
  const two = (a: Partial<OpenaiCall>, b: Partial<OpenaiCall>): OpenaiCall[] => [
    { name: 'read', args: { path: 'a' }, ...a },
    { name: 'write', args: { path: 'b', text: '😀' }, ...b },
  ];

  it.each<[string, OpenaiCall[]]>([
    ['ids are absent', two({}, {})],
    ['ids are null', two({ id: null }, { id: null })],
    ['ids are empty', two({ id: '' }, { id: '' })],
    ['an id is spaces', two({ id: '  ' }, { id: 'c' })],
    ['ids are the same', two({ id: 'same' }, { id: 'same' })],
    ['ids are numbers', two({ id: 7 }, { id: 8 })],
    ['indexes are absent', two({ id: 'a', index: null }, { id: 'b', index: null })],
    ['ids and indexes are absent', two({ index: null }, { index: null })],
  ])('survive when %s [field I4]', async (_, calls) => {
    server().reply(chunked(openaiTurn({ calls }), 17, 3));
    expect(callsOf(await collect(await open('openai-compatible')))).toMatchObject([
      { tool: 'read', input: '{"path":"a"}' },
      { tool: 'write', input: '{"path":"b","text":"😀"}' },
    ]);
  });

  it('keeps an id with spaces and 200 characters as it came [field I4]', async () => {
    const id = `call with spaces ${'x'.repeat(183)}`;
    server().reply(openaiTurn({ calls: [{ id, name: 'read' }] }));
    expect(callsOf(await collect(await open('openai-compatible')))).toMatchObject([{ providerCallId: id }]);
  });

  it('writes arguments that came as an object as the text they should have been [field I4]', async () => {
    const call = { index: 0, id: 'c', function: { name: 'read', arguments: { path: 'a' } } };
    server().reply(
      eventStream([{ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }]),
    );
    expect(callsOf(await collect(await open('openai-compatible')))).toMatchObject([
      { input: '{"path":"a"}' },
    ]);
  });

  it.each<[string, string, string]>([
    ['cut off with reason length', '{"path":"a","content":"abc', 'length'],
    ['cut off with reason tool_calls', '{"path":"a","content":"abc', 'tool_calls'],
    ['with a trailing comma', '{"path":"a",}', 'tool_calls'],
    ['two objects', '{"path":"a"}{"path":"b"}', 'tool_calls'],
    ['empty', '', 'tool_calls'],
  ])('hands arguments on as the model wrote them: %s [field I13]', async (_, args, finish) => {
    server().reply(openaiTurn({ calls: [{ id: 'c1', name: 'write', args }], finish }));
    const parts = await collect(await open('openai-compatible'));
    expect(callsOf(parts)).toMatchObject([{ providerCallId: 'c1', tool: 'write', input: args }]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: finish });
  });

  it('keeps two cut-off calls without id and index apart [field I4] [field I13]', async () => {
    const calls = [
      { name: 'write', args: '{"path":"a","text":"ab', index: null },
      { name: 'write', args: '{"path":"b","text":"cd', index: null },
    ];
    server().reply(openaiTurn({ calls, finish: 'length' }));
    expect(callsOf(await collect(await open('openai-compatible')))).toMatchObject([
      { input: '{"path":"a","text":"ab' },
      { input: '{"path":"b","text":"cd' },
    ]);
  });
});
