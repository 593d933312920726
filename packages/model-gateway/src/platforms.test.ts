import { afterEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { createModelGateway, type ModelGatewayOptions } from './gateway.ts';
import type { ProviderSettings } from './settings.ts';
import { collect } from './testing/bench.ts';
import { WIRES } from './testing/wires.ts';

type Fields = Partial<ModelGatewayOptions>;

/** A gateway whose requests end here; what they held is kept. */
function recording(fields: Fields) {
  const seen: { url: string; headers: Headers; body: object }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const sent = new Request(input, init);
    seen.push({ url: sent.url, headers: sent.headers, body: (await sent.json()) as object });
    const { body, headers } = turnFor(sent.url);
    return new Response(Buffer.from(body), { headers: { ...headers } });
  };
  return {
    seen,
    ...createModelGateway({ providers: {}, environment: {}, clock: systemClock, ...fields, fetch }),
  };
}

function turnFor(url: string) {
  const wires: readonly (readonly [RegExp, keyof typeof WIRES])[] = [
    [/\/messages$/, 'anthropic'],
    [/\/responses(?:\?|$)/, 'openai-responses'],
    [/\/chat\/completions/, 'openai-chat'],
    [/streamGenerateContent/, 'google-gemini'],
    [/converse-stream$/, 'aws-bedrock-converse'],
    [/\/chat$/, 'cohere-v2-chat'],
  ];
  const found = wires.find(([pattern]) => pattern.test(url));
  return WIRES[found?.[1] ?? 'openai-chat'].turn({ text: 'ok' });
}

/** Opens a model, asks once, and tells where the request went. */
async function sentBy(model: string, fields: Fields) {
  const { open, seen } = recording(fields);
  await collect(await open(model));
  const [{ url, headers, body } = { url: '', headers: new Headers(), body: {} }] = seen;
  return { url, headers: Object.fromEntries(headers), body };
}

const provider = (settings: ProviderSettings): Fields => ({ providers: { p: settings } });

/** Names that the packages look for by themselves. */
const HOSTILE = {
  OPENAI_BASE_URL: '',
  OPENAI_API_KEY: 'stray-key',
  ANTHROPIC_BASE_URL: '',
  ANTHROPIC_API_KEY: 'stray-key',
  ANTHROPIC_AUTH_TOKEN: 'stray-key',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:9',
  AWS_BEARER_TOKEN_BEDROCK: 'stray-key',
  AWS_ACCESS_KEY_ID: 'stray-key',
  AWS_SECRET_ACCESS_KEY: 'stray-key',
  AWS_SESSION_TOKEN: 'stray-key',
  AWS_REGION: 'stray-region-1',
  COHERE_API_KEY: 'stray-key',
  GOOGLE_GENERATIVE_AI_API_KEY: 'stray-key',
  GOOGLE_VERTEX_API_KEY: 'stray-key',
  GOOGLE_VERTEX_PROJECT: 'stray-project',
  AZURE_API_KEY: 'stray-key',
  AZURE_RESOURCE_NAME: 'stray-resource',
};

describe('a well-known provider needs its usual variables alone', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['openai/m', { OPENAI_API_KEY: 'k' }, 'https://api.openai.com/v1/responses', 'authorization: Bearer k'],
    [
      'google/m',
      { GEMINI_API_KEY: 'k' },
      'https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse',
      'x-goog-api-key: k',
    ],
    [
      'google/m',
      { GOOGLE_GENERATIVE_AI_API_KEY: 'first', GEMINI_API_KEY: 'second' },
      'https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse',
      'x-goog-api-key: first',
    ],
    [
      'google-vertex/m',
      { GOOGLE_VERTEX_API_KEY: 'k' },
      'https://aiplatform.googleapis.com/v1/publishers/google/models/m:streamGenerateContent?alt=sse',
      'x-goog-api-key: k',
    ],
    [
      'amazon-bedrock/m',
      { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'eu-central-1' },
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse-stream',
      'authorization: Bearer k',
    ],
    [
      'amazon-bedrock/m',
      { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_DEFAULT_REGION: 'cn-north-1' },
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/m/converse-stream',
      'authorization: Bearer k',
    ],
    [
      'azure/my-deployment',
      { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'mine' },
      'https://mine.openai.azure.com/openai/v1/responses',
      'api-key: k',
    ],
    ['cohere/m', { COHERE_API_KEY: 'k' }, 'https://api.cohere.com/v2/chat', 'authorization: Bearer k'],
  ])('%s with %j [CFG-5]', async (...[model, environment, url, header]) => {
    const sent = await sentBy(model, { environment });
    expect(sent.url).toBe(url);
    const [name = '', value] = header.split(': ');
    expect(sent.headers[name]).toBe(value);
  });

  it('signs with the usual AWS keys of the environment [CFG-5]', async () => {
    const { headers, url } = await sentBy('amazon-bedrock/m', {
      environment: {
        AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_SESSION_TOKEN: 'session',
        AWS_REGION: 'us-west-2',
      },
    });
    expect(url).toBe('https://bedrock-runtime.us-west-2.amazonaws.com/model/m/converse-stream');
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-west-2\/bedrock\/aws4_request, .*Signature=/,
    );
    expect(headers['x-amz-security-token']).toBe('session');
  });

  it('takes openai over either of its wires [CFG-5] [CFG-6]', async () => {
    const environment = { OPENAI_API_KEY: 'k' };
    const sent = await sentBy('openai/m', {
      environment,
      providers: { openai: { adaptor: 'openai-chat' } },
    });
    expect(sent.url).toBe('https://api.openai.com/v1/chat/completions');
    expect(sent.headers['authorization']).toBe('Bearer k');
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['google', {}, /no key: set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY/],
    ['google-vertex', {}, /no key: set GOOGLE_VERTEX_API_KEY or GOOGLE_VERTEX_PROJECT/],
    ['amazon-bedrock', {}, /set AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
    ['amazon-bedrock', { AWS_BEARER_TOKEN_BEDROCK: 'k' }, /no region: set AWS_REGION, or region in/],
    ['amazon-bedrock', { AWS_ACCESS_KEY_ID: 'k' }, /AWS_ACCESS_KEY_ID is of no use alone/],
    ['azure', {}, /no key: set AZURE_API_KEY/],
    ['azure', { AZURE_API_KEY: 'k' }, /no resource_name: set AZURE_RESOURCE_NAME, or resource_name in/],
    [
      'azure',
      { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'evil.example/#' },
      /AZURE_RESOURCE_NAME is malformed/,
    ],
    ['cohere', {}, /no key: set COHERE_API_KEY/],
  ])('%s with %j says what is missing, in the list as well [CFG-5]', async (id, environment, text) => {
    const { open, list } = recording({ environment });
    await expect(open(`${id}/m`)).rejects.toMatchObject({ message: expect.stringMatching(text) });
    const listed = list().find(({ provider: name }) => name === id);
    expect(listed?.problem).toMatch(text);
    expect(listed?.problem).not.toContain('\n');
    expect(listed?.hasKey).toBe(Object.keys(environment).length > 0);
  });

  it('has no default model where models have names of their owners’ choice [CFG-4]', () => {
    const environment = { AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'r' };
    expect(recording({ environment }).defaultModel()).toBeUndefined();
    expect(recording({ environment: { ...environment, COHERE_API_KEY: 'k' } }).defaultModel()).toMatch(
      /^cohere\/./,
    );
  });

  it('keeps keys, tokens and secrets of the clouds from commands [CFG-5]', () => {
    const names = recording({}).credentialVariables();
    expect(names).toEqual(
      expect.arrayContaining([
        'AWS_BEARER_TOKEN_BEDROCK',
        'AWS_SECRET_ACCESS_KEY',
        'AWS_SESSION_TOKEN',
        'AZURE_API_KEY',
        'COHERE_API_KEY',
        'GEMINI_API_KEY',
        'GOOGLE_VERTEX_API_KEY',
      ]),
    );
    expect(names).not.toContain('AWS_REGION');
  });
});

describe('platform settings', () => {
  const azure = { adaptor: 'azure-openai-chat', apiKey: 'k' } as const;

  it.each<[string, ProviderSettings, string]>([
    ['a resource', { ...azure, resourceName: 'r' }, 'https://r.openai.azure.com/openai/v1/chat/completions'],
    [
      'a version',
      { ...azure, resourceName: 'r', apiVersion: 'preview' },
      'https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    ],
    [
      'a dated version',
      { ...azure, resourceName: 'r', apiVersion: '2024-10-21' },
      'https://r.openai.azure.com/openai/deployments/a%20m/chat/completions?api-version=2024-10-21',
    ],
    [
      'a dated version of Responses',
      { ...azure, adaptor: 'azure-openai-responses', resourceName: 'r', apiVersion: '2025-04-01-preview' },
      'https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview',
    ],
    [
      'the bare address',
      { ...azure, baseUrl: 'https://r.openai.azure.com/' },
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ],
    [
      'a whole address',
      { ...azure, baseUrl: 'https://r.openai.azure.com/openai/v1' },
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ],
    [
      'a gateway of one’s own',
      { ...azure, baseUrl: 'https://gate.example/llm/v1' },
      'https://gate.example/llm/v1/chat/completions',
    ],
    [
      'a Vertex location',
      { adaptor: 'google-vertex-gemini', accessToken: 't', project: 'my-p', location: 'europe-west4' },
      'https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/my-p/locations/europe-west4/publishers/google/models/a%20m:streamGenerateContent?alt=sse',
    ],
    [
      'no Vertex location',
      { adaptor: 'google-vertex-gemini', accessToken: 't', project: 'my-p' },
      'https://aiplatform.googleapis.com/v1beta1/projects/my-p/locations/global/publishers/google/models/a%20m:streamGenerateContent?alt=sse',
    ],
  ])('lead to the right address: %s [CFG-6]', async (_, settings, url) => {
    expect((await sentBy('p/a m', provider(settings))).url).toBe(url);
  });

  it.each<[string, ProviderSettings, RegExp]>([
    [
      'a setting of another platform',
      { adaptor: 'anthropic', apiKey: 'k', region: 'eu-central-1' },
      /^\[providers\.p\] has region, which is for adaptor = "aws-bedrock-converse" only$/,
    ],
    [
      'half a credential',
      { adaptor: 'aws-bedrock-converse', region: 'eu-west-1', secretAccessKey: 'hush-hush' },
      /^secret_access_key of \[providers\.p\] is of no use alone: access_key_id and/,
    ],
    [
      'a region that is a host',
      { adaptor: 'aws-bedrock-converse', apiKey: 'k', region: 'x.evil.example/' },
      /^region of \[providers\.p\] is malformed: write e\.g\. region = "eu-central-1"$/,
    ],
    [
      'a project with a slash',
      { adaptor: 'google-vertex-gemini', accessToken: 't', project: 'a/../b' },
      /^project of \[providers\.p\] is malformed/,
    ],
    [
      'a version that is none',
      { ...azure, resourceName: 'r', apiVersion: 'v1&x=y' },
      /^api_version of \[providers\.p\] is malformed: write "v1", "preview" or a date/,
    ],
    ['no resource', azure, /^\[providers\.p\] has no resource_name: set resource_name in \[providers\.p\]$/],
  ])('are strict: %s fails in one line, without values [CFG-2]', async (_, settings, text) => {
    const opened = recording(provider(settings)).open('p/m');
    await expect(opened).rejects.toMatchObject({
      code: 'GATEWAY_SETTINGS_INVALID',
      message: expect.stringMatching(text),
    });
    await expect(opened).rejects.not.toMatchObject({ message: expect.stringContaining('hush') });
  });

  it('never put a usual key beside half a credential of their own', async () => {
    const opened = recording({
      environment: HOSTILE,
      providers: { 'amazon-bedrock': { adaptor: 'aws-bedrock-converse', accessKeyId: 'own' } },
    }).open('amazon-bedrock/m');
    await expect(opened).rejects.toMatchObject({ message: expect.stringContaining('of no use alone') });
  });
});

describe('the environment of the process', () => {
  const before = { ...process.env };
  afterEach(() => {
    for (const name of Object.keys(HOSTILE)) delete process.env[name];
    Object.assign(process.env, before);
  });

  it.each(Object.keys(WIRES) as (keyof typeof WIRES)[])(
    'lends nothing to a provider of one’s own: %s',
    async (adaptor) => {
      Object.assign(process.env, HOSTILE);
      const { settings } = WIRES[adaptor];
      const baseUrl = 'https://own.example/v1';
      const withKey = await sentBy('p/m', {
        ...provider({ adaptor, baseUrl, ...settings }),
        environment: HOSTILE,
      });
      const without = await sentBy('p/m', { ...provider({ adaptor, baseUrl }), environment: HOSTILE });
      for (const { url, headers, body } of [withKey, without]) {
        expect(url).toMatch(/^https:\/\/own\.example\/v1\//);
        expect(JSON.stringify([headers, body])).not.toContain('stray');
      }
      expect(Object.keys(without.headers)).not.toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^(?:authorization|api-key|x-api-key|x-goog-api-key)$/),
        ]),
      );
    },
  );

  it('does not replace the keys that sign requests', async () => {
    Object.assign(process.env, HOSTILE);
    const { headers, url } = await sentBy(
      'p/m',
      provider({
        adaptor: 'aws-bedrock-converse',
        region: 'eu-west-1',
        accessKeyId: 'AKIDOWN',
        secretAccessKey: 'own-secret',
      }),
    );
    expect(url).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse-stream');
    expect(headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDOWN\/\d+\/eu-west-1\//);
    expect(headers).not.toHaveProperty('x-amz-security-token');
  });
});
