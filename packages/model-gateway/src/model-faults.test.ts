import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isModelError, systemClock, type ModelErrorCode } from '@agentd/contract';
import { createModelGateway } from './gateway.ts';
import { KEY, collect, failureOf, request, textOf, useModelServer } from './testing/bench.ts';
import {
  anthropicTurn,
  cutAfter,
  endAfter,
  eventStream,
  hangAfter,
  httpError,
  openaiTurn,
  type CannedReply,
} from './testing/index.ts';

const { server, open } = useModelServer({ beforeEach, afterEach });

type Adaptor = 'anthropic' | 'openai-compatible';

const openaiError = (message: string, fields: object = {}) => ({ error: { message, ...fields } });
const anthropicError = (type: string, message: string) => ({ type: 'error', error: { type, message } });

describe('an answer with an error status', () => {
  it.each<[ModelErrorCode, Adaptor, number, unknown]>([
    ['MODEL_RATE_LIMIT', 'openai-compatible', 429, openaiError('slow down')],
    ['MODEL_RATE_LIMIT', 'anthropic', 429, anthropicError('rate_limit_error', 'slow down')],
    ['MODEL_RATE_LIMIT', 'openai-compatible', 429, openaiError('too many tokens per minute')],
    ['MODEL_REFUSED', 'openai-compatible', 429, openaiError('no money', { code: 'insufficient_quota' })],
    ['MODEL_OVERLOADED', 'anthropic', 529, anthropicError('overloaded_error', 'Overloaded')],
    ['MODEL_OVERLOADED', 'openai-compatible', 503, 'try later'],
    ['MODEL_UNAVAILABLE', 'openai-compatible', 500, openaiError('oops')],
    ['MODEL_UNAVAILABLE', 'anthropic', 502, '<html>Bad gateway</html>'],
    ['MODEL_UNAVAILABLE', 'openai-compatible', 408, ''],
    ['MODEL_UNAVAILABLE', 'openai-compatible', 409, ''],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'openai-compatible',
      400,
      openaiError('x', { code: 'context_length_exceeded' }),
    ],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'openai-compatible',
      400,
      openaiError("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
    ],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'openai-compatible',
      400,
      openaiError('the request exceeds the available context size. try increasing the context size'),
    ],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'anthropic',
      400,
      anthropicError('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    ],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'anthropic',
      400,
      anthropicError(
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 1 + 2 > 2',
      ),
    ],
    ['MODEL_CONTEXT_OVERFLOW', 'anthropic', 413, anthropicError('request_too_large', 'Request too large')],
    ['MODEL_AUTH', 'openai-compatible', 401, openaiError('bad key')],
    ['MODEL_AUTH', 'anthropic', 403, anthropicError('permission_error', 'no')],
    ['MODEL_REFUSED', 'openai-compatible', 400, openaiError('unknown parameter')],
    ['MODEL_REFUSED', 'anthropic', 404, anthropicError('not_found_error', 'model: nope')],
    ['MODEL_REFUSED', 'openai-compatible', 402, openaiError('pay')],
    ['MODEL_REFUSED', 'openai-compatible', 422, { detail: 'not like this' }],
  ])('is %s: %s %i %j [SES-9]', async (...[code, adaptor, status, body]) => {
    server().reply(httpError(status, body));
    const { error } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code, details: { status } });
    expect(isModelError(error)).toBe(true);
    expect(server().requests).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '2' }, 2000],
    ['milliseconds, which win', { 'retry-after': '2', 'retry-after-ms': '150.5' }, 150.5],
    ['a date', { 'retry-after': new Date(Date.UTC(2026, 0, 1, 0, 0, 7)).toUTCString() }, 7000],
    ['a date that has passed', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    ['no sense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['nothing', {}, undefined],
  ])('hands the time to wait on: %s [SES-9]', async (_, headers, retryAfterMs) => {
    server().reply(httpError(429, openaiError('slow'), headers));
    const client = await createModelGateway({
      providers: { local: { adaptor: 'openai-compatible', baseUrl: `${server().url}/v1` } },
      environment: {},
      clock: { ...systemClock, now: () => Date.UTC(2026, 0, 1) },
    }).open('local/m');
    const { error } = await failureOf(client);
    expect((error as { details: object }).details).toEqual({
      status: 429,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  });

  it('names the provider and where the key comes from [SES-9]', async () => {
    server().reply(httpError(401, openaiError(`Incorrect API key provided: ${KEY}`)));
    const { error } = await failureOf(await open('openai-compatible'));
    expect((error as Error).message).toBe(
      'provider "local" refused the key (401): check api_key of [providers.local]',
    );
  });

  it('tells the words of the provider in one short line', async () => {
    server().reply(httpError(400, openaiError(`no\n such   model ${'x'.repeat(1000)}`)));
    const { message } = (await failureOf(await open('openai-compatible'))).error as Error;
    expect(message).toMatch(/^provider "local" refused the request \(400\): no such model x+…$/);
    expect(message.length).toBeLessThan(400);
  });

  it('says what to check when a server knows nothing of the address', async () => {
    server().reply(httpError(404, {}));
    const { message } = (await failureOf(await open('openai-compatible'))).error as Error;
    expect(message).toBe(
      'provider "local" refused the request (404): check base_url (does it end as in "/v1"?) and the model',
    );
  });

  it.each([
    [400, openaiError(`the key ${KEY} and sk-abcdefgh12345678 are bad; token secret-header-value`)],
    [500, openaiError(`upstream said: ${KEY}, secret-header-value`)],
    [401, openaiError(`Bearer ${KEY}, secret-header-value`)],
  ])('gives away no key, header or request body: %i', async (status, body) => {
    server().reply(httpError(status, body));
    const client = await createModelGateway({
      providers: {
        local: {
          adaptor: 'openai-compatible',
          baseUrl: `${server().url}/v1`,
          apiKey: KEY,
          headers: { 'x-proxy': 'Token secret-header-value' },
        },
      },
      environment: {},
      clock: systemClock,
    }).open('local/m');
    const asked = request({ system: 'the-system-text' });
    const { error } = await failureOf(client, asked);
    const { message, stack, cause, details } = error as Error & { details: object };
    const told = JSON.stringify([message, stack, cause, details]);
    expect(told).not.toMatch(/test-key|sk-abc|secret-header|the-system-text/);
  });
});

describe('a connection that fails', () => {
  it.each<[string, Adaptor, (whole: CannedReply) => CannedReply]>([
    ['is reset before the answer', 'openai-compatible', (whole) => cutAfter(whole, 0)],
    ['is reset in the middle', 'openai-compatible', (whole) => cutAfter(whole, 700)],
    ['is reset before the last byte', 'openai-compatible', (whole) => cutAfter(whole, -1)],
    ['is reset in the middle', 'anthropic', (whole) => cutAfter(whole, 700)],
    ['ends cleanly without a single event', 'openai-compatible', (whole) => endAfter(whole, 0)],
    ['ends cleanly without a single event', 'anthropic', (whole) => endAfter(whole, 0)],
    ['ends cleanly in the middle of an event', 'openai-compatible', (whole) => endAfter(whole, 700)],
    ['ends cleanly in the middle of an event', 'anthropic', (whole) => endAfter(whole, 700)],
    ['ends cleanly before the last event', 'anthropic', (whole) => endAfter(whole, -150)],
  ])('is unavailable and never a turn: it %s (%s) [SES-9]', async (_, adaptor, spoil) => {
    const text = 'word '.repeat(20);
    server().reply(spoil(adaptor === 'anthropic' ? anthropicTurn({ text }) : openaiTurn({ text })));
    const { error, parts } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(parts.some(({ type }) => type === 'finish')).toBe(false);
    expect(text.startsWith(textOf(parts))).toBe(true);
  });

  it('gives away no password of its address', async () => {
    const client = await createModelGateway({
      providers: {
        local: {
          adaptor: 'openai-compatible',
          baseUrl: 'http://user:password-in-url@127.0.0.1:1/v1?key=query-key',
        },
      },
      environment: {},
      clock: systemClock,
    }).open('local/m');
    const { message, stack, cause, details } = (await failureOf(client)).error as Error & { details: object };
    expect(message).toContain('http://127.0.0.1:1 ');
    expect(JSON.stringify([message, stack, cause, details])).not.toMatch(/password-in-url|query-key/);
  });

  it('names the address and the reason when nobody listens [SES-9]', async () => {
    const client = await open('openai-compatible');
    const { url } = server();
    await server().close();
    const { error } = await failureOf(client);
    expect(error).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: `the connection to provider "local" at ${url} failed, or its answer broke off: ECONNREFUSED`,
    });
  });
});

describe('an error in the middle of the stream', () => {
  const ANSWER = 'some words ';

  it.each<[ModelErrorCode, CannedReply]>([
    [
      'MODEL_OVERLOADED',
      anthropicTurn({ text: ANSWER, error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
    [
      'MODEL_RATE_LIMIT',
      anthropicTurn({ text: ANSWER, error: { type: 'rate_limit_error', message: 'slow' } }),
    ],
    ['MODEL_UNAVAILABLE', anthropicTurn({ text: ANSWER, error: { type: 'api_error', message: 'Internal' } })],
    [
      'MODEL_CONTEXT_OVERFLOW',
      anthropicTurn({
        text: ANSWER,
        error: { type: 'invalid_request_error', message: 'prompt is too long' },
      }),
    ],
    [
      'MODEL_REFUSED',
      anthropicTurn({ text: ANSWER, error: { type: 'invalid_request_error', message: 'no' } }),
    ],
  ])('is %s on the Messages wire [SES-9]', async (code, reply) => {
    server().reply(reply);
    const { error, parts } = await failureOf(await open('anthropic'));
    expect(error).toMatchObject({ code });
    expect(textOf(parts)).toBe(ANSWER);
  });

  it.each<[ModelErrorCode, object]>([
    ['MODEL_UNAVAILABLE', { message: 'upstream failed' }],
    ['MODEL_UNAVAILABLE', { message: 'upstream failed', code: 502 }],
    ['MODEL_RATE_LIMIT', { message: 'slow', code: 429 }],
    ['MODEL_CONTEXT_OVERFLOW', { message: 'too long', code: 'context_length_exceeded' }],
    ['MODEL_AUTH', { message: 'key revoked', code: 401 }],
    ['MODEL_REFUSED', { message: 'flagged', code: 400 }],
  ])('is %s on the Chat Completions wire: %j [SES-9]', async (code, error) => {
    server().reply(openaiTurn({ text: ANSWER, error }));
    const failure = await failureOf(await open('openai-compatible'));
    expect(failure.error).toMatchObject({ code });
    expect(textOf(failure.parts)).toBe(ANSWER);
  });

  it.each([
    ['an event that is no JSON', 'data: {"choices":[{"delta":{"content":"secret words\n\n'],
    ['an event of another shape', 'data: {"error":"the server is on fire"}\n\n'],
    ['the reason "error"', 'data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\ndata: [DONE]\n\n'],
  ])('is unavailable: %s [SES-9]', async (_, event) => {
    server().reply(eventStream([{ choices: [{ delta: { content: 'Hi' } }] }, event]));
    const { error } = await failureOf(await open('openai-compatible'));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect((error as Error).message).not.toContain('secret words');
  });
});

describe('an abort', () => {
  it.each<[string, Adaptor, number]>([
    ['before the answer', 'openai-compatible', 0],
    ['before the answer', 'anthropic', 0],
    ['in the middle of the answer', 'openai-compatible', 900],
    ['in the middle of the answer', 'anthropic', 900],
  ])('%s rejects with the reason and closes the connection (%s)', async (_, adaptor, bytes) => {
    const text = 'word '.repeat(50);
    server().reply(
      hangAfter(adaptor === 'anthropic' ? anthropicTurn({ text }) : openaiTurn({ text }), bytes),
    );
    const abort = new AbortController();
    const parts = (await open(adaptor)).stream(request(), abort.signal)[Symbol.asyncIterator]();
    const first = parts.next();
    const seen = await server().arrived(0);
    if (bytes > 0) expect((await first).value).toMatchObject({ type: 'text-delta' });
    const reason = new Error('the user left');
    abort.abort(reason);
    const rest = async (): Promise<void> => {
      await first;
      while (!(await parts.next()).done);
    };
    await expect(rest()).rejects.toBe(reason);
    expect(await seen.finished).toBe(false);
  });

  it('that came before makes no request', async () => {
    const { error } = await failureOf(await open('openai-compatible'), request(), AbortSignal.abort('stop'));
    expect(error).toBe('stop');
    expect(server().requests).toHaveLength(0);
  });

  it('is not needed by a reader that stops early: the connection closes', async () => {
    server().reply(hangAfter(openaiTurn({ text: 'word '.repeat(50) }), 900));
    for await (const part of (await open('openai-compatible')).stream(
      request(),
      new AbortController().signal,
    )) {
      if (part.type === 'text-delta') break;
    }
    expect(await server().requests[0]?.finished).toBe(false);
  });

  it('does not spoil the next request', async () => {
    server().reply(hangAfter(openaiTurn({ text: 'x' }), 0), openaiTurn({ text: 'fine' }));
    const client = await open('openai-compatible');
    const abort = new AbortController();
    const failure = failureOf(client, request(), abort.signal);
    await server().arrived(0);
    abort.abort();
    await failure;
    expect(textOf(await collect(client))).toBe('fine');
  });
});
