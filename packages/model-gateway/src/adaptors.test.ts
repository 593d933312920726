import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelErrorCode } from '@agentd/contract';
import { callsOf, collect, failureOf, request, textOf, useModelServer } from './testing/bench.ts';
import { chunked, cutAfter, endAfter, hangAfter, httpError, type CannedReply } from './testing/index.ts';
import { step, user } from './testing/stored.ts';
import { WIRES, WIRE_ADAPTORS, type WireAdaptor } from './testing/wires.ts';

const { server, open, body } = useModelServer({ beforeEach, afterEach });

const ANSWER = 'Grüße 😀 an “alle”, und noch mehr Worte';

describe.each(WIRE_ADAPTORS)('%s', (adaptor) => {
  const { turn, path, keyHeader, model } = WIRES[adaptor];

  it('asks once, at its address, with the key and the limit of the answer [CFG-6]', async () => {
    server().reply(turn({ text: ANSWER }));
    const parts = await collect(await open(adaptor), request({ maxOutputTokens: 777 }));
    expect(server().requests).toHaveLength(1);
    const [seen] = server().requests;
    expect(seen).toMatchObject({ method: 'POST', path });
    const [name = '', value] = keyHeader.split(': ');
    expect(seen?.headers[name]).toBe(value);
    expect(JSON.stringify(body())).toMatch(/Be brief.*777|777.*Be brief/);
    expect(textOf(parts)).toBe(ANSWER);
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
      },
    });
  });

  it('is the same however the bytes are split', async () => {
    const client = await open(adaptor);
    const calls = [{ id: 'c1', name: 'say', args: { text: 'é😀' } }];
    for (const sizes of [[1], [64, 3]]) {
      server().reply(chunked(turn({ text: ANSWER, calls }), ...sizes));
      const parts = await collect(client);
      expect(textOf(parts)).toBe(ANSWER);
      expect(callsOf(parts)).toMatchObject([{ providerCallId: 'c1', tool: 'say', input: '{"text":"é😀"}' }]);
      expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls' });
    }
  });

  it('tells that the answer was cut off', async () => {
    server().reply(turn({ text: 'half', isCutOff: true }));
    expect((await collect(await open(adaptor))).at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
  });

  it.each<[string, { id?: string | null }]>([
    ['absent', {}],
    ['null', { id: null }],
    ['empty', { id: '' }],
    ['the same', { id: 'same' }],
    ['spaces and 200 characters long', { id: `a b ${'x'.repeat(196)}` }],
  ])('keeps two calls apart whose ids are %s [field I4]', async (_, id) => {
    const calls = [
      { ...id, name: 'read', args: { path: 'é' } },
      { ...id, name: 'write', args: { path: 'b' } },
    ];
    server().reply(chunked(turn({ calls }), 13));
    expect(callsOf(await collect(await open(adaptor)))).toMatchObject([
      { tool: 'read', input: '{"path":"é"}' },
      { tool: 'write', input: '{"path":"b"}' },
    ]);
  });

  it('holds no empty text anywhere [field I5]', async () => {
    server().reply(turn({ text: 'ok' }));
    const messages = step('local/other').map((message) => ({
      ...message,
      content: message.content.map((part) => (part.type === 'tool_call' ? part : { ...part, text: ' \n' })),
    })) as ReturnType<typeof step>;
    await collect(await open(adaptor), request({ system: ' ', messages: [...messages, user('')] }));
    expect(JSON.stringify(body())).not.toMatch(/"(?:text|content|output|parts)":(?:"(?:\s|\\n)*"|\[\])/);
    expect(JSON.stringify(body())).toContain('(no output)');
  });

  it('sends reasoning and provider data to no other model than their own [field I12]', async () => {
    server().reply(turn({ text: 'ok' }));
    const secret = {
      signature: 'foreign',
      thoughtSignature: 'foreign',
      itemId: 'foreign',
      reasoningEncryptedContent: 'foreign',
    };
    const names = ['anthropic', 'openai', 'azure', 'google', 'googleVertex', 'vertex', 'bedrock'];
    const data = Object.fromEntries(names.map((name) => [name, secret]));
    const [asked, answer, results] = step('local/other');
    const content = [
      { type: 'reasoning' as const, text: 'hidden thoughts', provider_data: data },
      ...(answer?.role === 'assistant' ? answer.content : []).map((part) => ({
        ...part,
        provider_data: data,
      })),
    ];
    const messages = [asked, { ...answer, content }, results] as ReturnType<typeof step>;
    await collect(await open(adaptor), request({ messages }));
    expect(JSON.stringify(body())).not.toMatch(/foreign|hidden thoughts/);
  });

  it('names the tools of a history with calls where the wire wants that, and drops no call', async () => {
    server().reply(turn({ text: 'ok' }));
    await collect(await open(adaptor), request({ messages: step(`local/${model}`) }));
    const sent = JSON.stringify(body());
    expect(sent).toContain('AAA');
    expect(sent).toContain('not_found: no b');
    expect(/"tools":\[/.test(sent)).toBe(/anthropic|bedrock/.test(adaptor));
  });

  it.each<[string, (whole: CannedReply) => CannedReply]>([
    ['is reset before the answer', (whole) => cutAfter(whole, 0)],
    ['is reset in the middle', (whole) => cutAfter(whole, -400)],
    ['is reset before the last byte', (whole) => cutAfter(whole, -1)],
    ['ends cleanly without a single event', (whole) => endAfter(whole, 0)],
    ['ends cleanly in the middle of an event', (whole) => endAfter(whole, -400)],
  ])('fails as unavailable and gives no turn where the stream %s [SES-9]', async (_, spoil) => {
    server().reply(spoil(turn({ text: ANSWER.repeat(3) })));
    const { error, parts } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(parts.some(({ type }) => type === 'finish')).toBe(false);
  });

  it.each<[ModelErrorCode, number, object]>([
    ['MODEL_AUTH', 401, { message: 'bad' }],
    ['MODEL_AUTH', 403, { message: 'not yours' }],
    ['MODEL_RATE_LIMIT', 429, { message: 'slow down' }],
    ['MODEL_UNAVAILABLE', 500, { message: 'oops' }],
    ['MODEL_OVERLOADED', 503, { message: 'busy' }],
    ['MODEL_REFUSED', 400, { message: 'no such field' }],
    ['MODEL_REFUSED', 404, { message: 'no such model' }],
  ])('says %s for %i, once [SES-9]', async (code, status, fault) => {
    server().reply(httpError(status, faultOf(adaptor, fault), { 'retry-after': '3' }));
    const { error } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code, details: { status, retryAfterMs: 3000 } });
    expect(server().requests).toHaveLength(1);
  });

  it('is told by the family’s own words that the request is too large [SES-9]', async () => {
    server().reply(httpError(400, OVERFLOWS[adaptor]));
    const { error } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code: 'MODEL_CONTEXT_OVERFLOW', details: { status: 400 } });
  });

  it.each<[string, number]>([
    ['before the answer', 0],
    ['in the middle of the answer', -100],
  ])('closes the connection on an abort %s, and works on after it', async (_, bytes) => {
    server().reply(hangAfter(turn({ text: ANSWER.repeat(20) }), bytes), turn({ text: 'fine' }));
    const client = await open(adaptor);
    const abort = new AbortController();
    const parts = client.stream(request(), abort.signal)[Symbol.asyncIterator]();
    const first = parts.next();
    const seen = await server().arrived(0);
    if (bytes !== 0) expect((await first).value).toMatchObject({ type: 'text-delta' });
    const reason = new Error('the user left');
    abort.abort(reason);
    const rest = async (): Promise<void> => {
      await first;
      while (!(await parts.next()).done);
    };
    await expect(rest()).rejects.toBe(reason);
    expect(await seen.finished).toBe(false);
    expect(textOf(await collect(client))).toBe('fine');
  });

  it('closes the connection where a reader stops early', async () => {
    server().reply(hangAfter(turn({ text: ANSWER.repeat(20) }), -100));
    for await (const part of (await open(adaptor)).stream(request(), new AbortController().signal)) {
      if (part.type === 'text-delta') break;
    }
    expect(await server().requests[0]?.finished).toBe(false);
  });
});

describe.each(WIRE_ADAPTORS.filter((adaptor) => !/gemini/.test(adaptor)))('%s', (adaptor) => {
  it.each([
    ['cut off', '{"path":"a","content":"abc', true, 'length'],
    ['with a trailing comma', '{"path":"a",}', false, 'tool_calls'],
    ['two objects', '{"path":"a"}{"path":"b"}', false, 'tool_calls'],
    ['a JSON text', '"{\\"path\\":1}"', false, 'tool_calls'],
  ])('hands arguments on as the model wrote them: %s [field I13]', async (...[, args, isCutOff, reason]) => {
    server().reply(WIRES[adaptor].turn({ calls: [{ id: 'c1', name: 'write', args }], isCutOff }));
    const parts = await collect(await open(adaptor));
    expect(callsOf(parts)).toMatchObject([{ providerCallId: 'c1', tool: 'write', input: args }]);
    expect(parts.at(-1)).toMatchObject({ reason });
  });
});

/** An error in the shape of the family. */
function faultOf(adaptor: WireAdaptor, { message }: { message?: string }): object {
  if (/bedrock|cohere/.test(adaptor)) return { message };
  return /anthropic/.test(adaptor)
    ? { type: 'error', error: { type: 'api_error', message } }
    : { error: { message } };
}

const openaiOverflow = {
  error: { message: 'x', code: 'context_length_exceeded', type: 'invalid_request_error' },
};
const anthropicOverflow = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
};

const OVERFLOWS: Readonly<Record<WireAdaptor, object>> = {
  anthropic: anthropicOverflow,
  'anthropic-compatible': anthropicOverflow,
  'openai-responses': openaiOverflow,
  'openai-chat': openaiOverflow,
  'openai-compatible': openaiOverflow,
  'azure-openai-responses': openaiOverflow,
  'azure-openai-chat': openaiOverflow,
  'google-gemini': {
    error: {
      code: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    },
  },
  'google-vertex-gemini': {
    error: {
      code: 400,
      message:
        'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.',
      status: 'INVALID_ARGUMENT',
    },
  },
  'aws-bedrock-converse': { message: 'Input is too long for requested model.' },
  'cohere-v2-chat': { message: 'too many tokens: size limit exceeded by 11326 tokens.' },
};
