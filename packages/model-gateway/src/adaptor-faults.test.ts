import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelErrorCode } from '@agentd/contract';
import { collect, failureOf, textOf, useModelServer } from './testing/bench.ts';
import {
  bedrockTurn,
  cohereTurn,
  endAfter,
  eventStream,
  geminiTurn,
  httpError,
  responsesTurn,
  type CannedReply,
} from './testing/index.ts';
import { WIRES, type WireAdaptor } from './testing/wires.ts';

const { server, open } = useModelServer({ beforeEach, afterEach });

const ANSWER = 'Some words.';

const failed = (code: string, text = ANSWER) => responsesTurn({ text, failed: { code, message: 'told' } });
const exception = (type: string, message = 'told') =>
  bedrockTurn({ text: ANSWER, exception: { type, message } });
const google = (code: number, status: string) =>
  geminiTurn({ text: ANSWER, error: { code, status, message: 'told' } });

describe('an error in the stream', () => {
  it.each<[ModelErrorCode, WireAdaptor, string, CannedReply]>([
    ['MODEL_RATE_LIMIT', 'openai-responses', 'rate_limit_exceeded', failed('rate_limit_exceeded')],
    ['MODEL_UNAVAILABLE', 'openai-responses', 'server_error', failed('server_error')],
    ['MODEL_CONTEXT_OVERFLOW', 'openai-responses', 'the window', failed('context_length_exceeded')],
    ['MODEL_REFUSED', 'openai-responses', 'an empty purse', failed('insufficient_quota')],
    ['MODEL_RATE_LIMIT', 'azure-openai-responses', 'the rate', failed('rate_limit_exceeded')],
    ['MODEL_OVERLOADED', 'google-gemini', 'UNAVAILABLE', google(503, 'UNAVAILABLE')],
    ['MODEL_RATE_LIMIT', 'google-vertex-gemini', 'RESOURCE_EXHAUSTED', google(429, 'RESOURCE_EXHAUSTED')],
    ['MODEL_UNAVAILABLE', 'google-gemini', 'INTERNAL', google(500, 'INTERNAL')],
    ['MODEL_RATE_LIMIT', 'aws-bedrock-converse', 'throttling', exception('throttlingException')],
    ['MODEL_OVERLOADED', 'aws-bedrock-converse', '503', exception('serviceUnavailableException')],
    ['MODEL_UNAVAILABLE', 'aws-bedrock-converse', '500', exception('internalServerException')],
    ['MODEL_UNAVAILABLE', 'aws-bedrock-converse', '424', exception('modelStreamErrorException')],
    ['MODEL_REFUSED', 'aws-bedrock-converse', '400', exception('validationException')],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'aws-bedrock-converse',
      'the window',
      exception('validationException', 'Input is too long for requested model.'),
    ],
    ['MODEL_UNAVAILABLE', 'cohere-v2-chat', 'ERROR', cohereTurn({ text: ANSWER, finish: 'ERROR' })],
    [
      'MODEL_UNAVAILABLE',
      'google-gemini',
      'a call that is none',
      geminiTurn({ text: ANSWER, finish: 'MALFORMED_FUNCTION_CALL' }),
    ],
  ])('is %s after what was said: %s, %s [SES-9]', async (...[code, adaptor, , reply]) => {
    server().reply(reply);
    const { error, parts } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code });
    expect(textOf(parts)).toBe(ANSWER);
    expect(parts.some(({ type }) => type === 'finish')).toBe(false);
  });

  it.each<[ModelErrorCode, string]>([
    ['MODEL_RATE_LIMIT', 'rate_limit_exceeded'],
    ['MODEL_UNAVAILABLE', 'server_error'],
    ['MODEL_CONTEXT_OVERFLOW', 'context_length_exceeded'],
    ['MODEL_REFUSED', 'insufficient_quota'],
    ['MODEL_REFUSED', 'invalid_prompt'],
  ])('is %s before the first word of a Responses turn: %s [SES-9]', async (code, fault) => {
    server().reply(failed(fault, ''));
    const { error } = await failureOf(await open('openai-responses'));
    expect(error).toMatchObject({ code, message: expect.stringContaining('told') });
  });
});

describe('a turn that its provider ended early', () => {
  it.each<[WireAdaptor, CannedReply]>([
    ['google-gemini', geminiTurn({ text: 'x', finish: 'SAFETY' })],
    ['google-gemini', eventStream([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }])],
    ['aws-bedrock-converse', bedrockTurn({ text: 'x', stop: 'guardrail_intervened' })],
    ['openai-responses', responsesTurn({ text: 'x', incomplete: 'content_filter' })],
  ])('is whole, with content_filter for a reason: %s', async (adaptor, reply) => {
    server().reply(reply);
    expect((await collect(await open(adaptor))).at(-1)).toMatchObject({
      type: 'finish',
      reason: 'content_filter',
    });
  });

  it.each<[WireAdaptor, number]>([
    ['openai-responses', -300],
    ['google-gemini', -200],
    ['aws-bedrock-converse', -300],
    ['cohere-v2-chat', -120],
    ['azure-openai-chat', -400],
  ])('is cut where only the end is missing, cleanly: %s [SES-9]', async (adaptor, bytes) => {
    server().reply(endAfter(WIRES[adaptor].turn({ text: ANSWER }), bytes));
    const { error } = await failureOf(await open(adaptor));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });
});

describe('an answer with an error status', () => {
  const googleError = (code: number, fields: object) => ({ error: { code, message: 'told', ...fields } });
  const detail = (fields: object) => ({ details: [{ '@type': 'type.googleapis.com/x' }, fields] });

  it.each<[ModelErrorCode, WireAdaptor, string, CannedReply]>([
    [
      'MODEL_AUTH',
      'google-gemini',
      'API_KEY_INVALID, told as 400',
      httpError(400, googleError(400, detail({ reason: 'API_KEY_INVALID' }))),
    ],
    [
      'MODEL_RATE_LIMIT',
      'google-gemini',
      'a list of one',
      httpError(429, [googleError(429, { status: 'RESOURCE_EXHAUSTED' })]),
    ],
    [
      'MODEL_RATE_LIMIT',
      'aws-bedrock-converse',
      'ThrottlingException in a header',
      httpError(400, { message: 'told' }, { 'x-amzn-errortype': 'ThrottlingException:http://internal/' }),
    ],
    [
      'MODEL_AUTH',
      'aws-bedrock-converse',
      'ExpiredTokenException',
      httpError(400, { message: 'told' }, { 'x-amzn-errortype': 'ExpiredTokenException' }),
    ],
    ['MODEL_UNAVAILABLE', 'aws-bedrock-converse', '424', httpError(424, { message: 'told' })],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'aws-bedrock-converse',
      'the words of Nova',
      httpError(400, { message: 'Input Tokens Exceeded: Number of input tokens exceeds maximum length.' }),
    ],
    [
      'MODEL_CONTEXT_OVERFLOW',
      'azure-openai-responses',
      'the words of Responses',
      httpError(400, { error: { message: 'Your input exceeds the context window of this model.' } }),
    ],
    [
      'MODEL_REFUSED',
      'azure-openai-chat',
      'the content filter',
      httpError(400, { error: { code: 'content_filter', message: 'told' } }),
    ],
  ])('is %s: %s, %s [SES-9]', async (...[code, adaptor, , reply]) => {
    server().reply(reply);
    expect((await failureOf(await open(adaptor))).error).toMatchObject({ code });
  });

  it('takes the time to wait out of Google’s body [SES-9]', async () => {
    server().reply(httpError(429, googleError(429, detail({ retryDelay: '17.5s' }))));
    expect((await failureOf(await open('google-gemini'))).error).toMatchObject({
      code: 'MODEL_RATE_LIMIT',
      details: { status: 429, retryAfterMs: 17_500 },
    });
  });

  it('tells the words of a 403, which is as often about the model as about the key [SES-9]', async () => {
    server().reply(
      httpError(403, { message: "You don't have access to the model with the specified model ID." }),
    );
    expect((await failureOf(await open('aws-bedrock-converse'))).error).toMatchObject({
      code: 'MODEL_AUTH',
      message:
        'provider "local" refused access (403): You don\'t have access to the model with the specified model ID.; check api_key of [providers.local]',
    });
  });
});
