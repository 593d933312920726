import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { createModelGateway, type ModelGatewayOptions } from './gateway.ts';
import { collect, request } from './testing/bench.ts';
import { anthropicTurn, openaiTurn } from './testing/index.ts';

type Fields = Partial<ModelGatewayOptions>;
const gateway = (fields: Fields = {}) =>
  createModelGateway({ providers: {}, environment: {}, clock: systemClock, ...fields });

/** A gateway whose requests end here; what they held is kept. */
function recording(fields: Fields) {
  const seen: { url: string; headers: Headers; body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const sent = new Request(input, init);
    const { url } = sent;
    seen.push({ url, headers: sent.headers, body: await sent.json() });
    const { body, headers } = (url.endsWith('/messages') ? anthropicTurn : openaiTurn)({ text: 'ok' });
    return new Response(body, { headers: { ...headers } });
  };
  return { seen, ...gateway({ ...fields, fetch }) };
}

describe('the default model', () => {
  it.each([
    ['of the one provider with a key', { GROQ_API_KEY: 'k' }, /^groq\/./],
    [
      'of the first provider with a key',
      { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
      /^anthropic\/claude-/,
    ],
    ['of the next where a variable is empty', { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: '' }, /^openai\/./],
  ])('is that %s [CFG-4]', async (_, environment, expected) => {
    const { defaultModel, open } = gateway({ environment });
    expect(defaultModel()).toMatch(expected);
    expect((await open(defaultModel() ?? '')).info.id).toBe(defaultModel());
  });

  it('is none without any key [CFG-4]', () => {
    expect(gateway({ environment: { PATH: '/bin' } }).defaultModel()).toBeUndefined();
  });
});

describe('opening a model', () => {
  it('reaches a well-known provider by its usual key variable alone [CFG-5]', async () => {
    const { open, seen } = recording({
      environment: { ANTHROPIC_API_KEY: 'ant-key', MISTRAL_API_KEY: 'mis-key' },
    });
    await collect(await open('anthropic/claude-sonnet-5-5'));
    await collect(await open('mistral/some/model:free'));
    expect(seen[0]).toMatchObject({
      url: 'https://api.anthropic.com/v1/messages',
      body: { max_tokens: 128_000 },
    });
    expect(seen[0]?.headers.get('x-api-key')).toBe('ant-key');
    expect(seen[1]).toMatchObject({
      url: 'https://api.mistral.ai/v1/chat/completions',
      body: { model: 'some/model:free' },
    });
    expect(seen[1]?.headers.get('authorization')).toBe('Bearer mis-key');
    expect(seen[1]?.body).not.toHaveProperty('max_tokens');
  });

  it('names the limit of an answer as the provider does', async () => {
    const { open, seen } = recording({
      environment: { OPENAI_API_KEY: 'k' },
      providers: { openai: { adaptor: 'openai-compatible' } },
    });
    await collect(await open('openai/gpt-6.2-sol'), request({ maxOutputTokens: 99 }));
    expect(seen[0]?.body).toMatchObject({ max_completion_tokens: 99 });
    expect(seen[0]?.body).not.toHaveProperty('max_tokens');
  });

  it('leaves the limit of an answer to a server where it would take much of the window', async () => {
    const { open, seen } = recording({ environment: { MOONSHOT_API_KEY: 'k', GROQ_API_KEY: 'k' } });
    await collect(await open('moonshot/kimi-k2.6'));
    await collect(await open('groq/llama-3.3-70b-versatile'));
    expect(seen[0]?.body).not.toHaveProperty('max_tokens');
    expect(seen[1]?.body).toMatchObject({ max_tokens: 32_768 });
  });

  it('describes known models, unknown ones with care, and lets settings win', async () => {
    const { open } = gateway({
      environment: { ANTHROPIC_API_KEY: 'k' },
      providers: {
        local: {
          adaptor: 'openai-compatible',
          baseUrl: 'http://127.0.0.1:1/v1',
          models: { qwen3: { input: ['text', 'image'], contextTokens: 32_768, outputTokens: undefined } },
        },
      },
    });
    expect((await open('anthropic/claude-opus-5-5')).info).toEqual({
      id: 'anthropic/claude-opus-5-5',
      provider: 'anthropic',
      model: 'claude-opus-5-5',
      family: 'anthropic',
      input: ['text', 'image', 'pdf'],
      toolCalling: true,
      contextTokens: 1_000_000,
      outputTokens: 128_000,
      pricing: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
    });
    expect((await open('anthropic/claude-haiku-4-5-20251001')).info).toMatchObject({
      model: 'claude-haiku-4-5-20251001',
      outputTokens: 64_000,
    });
    expect((await open('local/qwen3')).info).toMatchObject({
      family: 'openai-compatible',
      input: ['text', 'image'],
      contextTokens: 32_768,
      outputTokens: 8192,
    });
    expect((await open('local/constructor')).info).toMatchObject({ input: ['text'], contextTokens: 128_000 });
  });

  it('sends configured headers, and no key where none is configured', async () => {
    const { open, seen } = recording({
      environment: { OPENAI_API_KEY: 'env-key', ANTHROPIC_API_KEY: 'env-key' },
      providers: {
        openai: {
          adaptor: 'openai-compatible',
          baseUrl: 'https://proxy.example/v1/',
          headers: { 'x-team': 'a' },
        },
        claude: { adaptor: 'anthropic', baseUrl: 'https://proxy.example/v1' },
      },
    });
    await collect(await open('openai/m'));
    await collect(await open('claude/m'));
    expect(seen[0]?.url).toBe('https://proxy.example/v1/chat/completions');
    expect(seen[0]?.headers.get('x-team')).toBe('a');
    // A usual key goes to the usual address and nowhere else.
    expect(JSON.stringify(seen.map(({ headers }) => [...headers]))).not.toContain('env-key');
  });

  it('takes the usual key where a table for a well-known provider names neither key nor address [CFG-5]', async () => {
    const { open, seen } = recording({
      environment: { ANTHROPIC_API_KEY: 'env-key' },
      providers: { anthropic: { adaptor: 'anthropic', models: { x: { outputTokens: 77 } } } },
    });
    await collect(await open('anthropic/x'));
    expect(seen[0]?.headers.get('x-api-key')).toBe('env-key');
    expect(seen[0]?.body).toMatchObject({ max_tokens: 77 });
  });

  it.each<[string, string, RegExp, Fields]>([
    ['gpt-5', 'GATEWAY_MODEL_UNKNOWN', /"gpt-5" names no model: write PROVIDER\/MODEL/, {}],
    ['openai/', 'GATEWAY_MODEL_UNKNOWN', /PROVIDER\/MODEL/, {}],
    ['', 'GATEWAY_MODEL_UNKNOWN', /PROVIDER\/MODEL/, {}],
    ['acme/x', 'GATEWAY_PROVIDER_UNKNOWN', /"acme": use one of .*anthropic, openai.*\[providers\.acme\]/, {}],
    ['__proto__/x', 'GATEWAY_PROVIDER_UNKNOWN', /"__proto__"/, {}],
    [
      'openai/x',
      'GATEWAY_KEY_MISSING',
      /"openai" has no key: set OPENAI_API_KEY, or api_key in \[providers\.openai\]/,
      {},
    ],
    [
      'anthropic/x',
      'GATEWAY_KEY_MISSING',
      /set ANTHROPIC_API_KEY/,
      { providers: { anthropic: { adaptor: 'anthropic', apiKey: '', headers: {} } } },
    ],
    [
      'l/x',
      'GATEWAY_SETTINGS_INVALID',
      /no base_url/,
      { providers: { l: { adaptor: 'openai-compatible' } } },
    ],
    [
      'l/x',
      'GATEWAY_SETTINGS_INVALID',
      /not an http\(s\) URL/,
      { providers: { l: { adaptor: 'anthropic', baseUrl: 'localhost:8080' } } },
    ],
    ['l/x', 'GATEWAY_SETTINGS_INVALID', /needs script = /, { providers: { l: { adaptor: 'scripted' } } }],
  ])('%j fails with %s and the way to mend it', async (...[id, code, text, fields]) => {
    await expect(gateway(fields).open(id)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(text),
    });
  });
});

describe('what can be used', () => {
  it('lists settings first, then well-known providers, and where a key is', () => {
    const listed = gateway({
      environment: { GROQ_API_KEY: 'k', OPENAI_API_KEY: 'k' },
      providers: {
        local: { adaptor: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', models: { qwen3: {} } },
        openai: { adaptor: 'openai-compatible', baseUrl: 'https://proxy.example' },
      },
    }).list();
    expect(listed.slice(0, 2)).toMatchObject([
      {
        provider: 'local',
        adaptor: 'openai-compatible',
        models: ['qwen3'],
        hasKey: false,
        source: 'settings',
      },
      { provider: 'openai', hasKey: false, source: 'settings', keyVariables: ['OPENAI_API_KEY'] },
    ]);
    expect(listed.filter(({ provider }) => provider === 'openai')).toHaveLength(1);
    expect(listed.find(({ provider }) => provider === 'groq')).toMatchObject({
      adaptor: 'openai-compatible',
      models: expect.arrayContaining(['openai/gpt-oss-120b']),
      hasKey: true,
      keyVariables: ['GROQ_API_KEY'],
      source: 'well-known',
      problem: null,
    });
    expect(listed.find(({ provider }) => provider === 'anthropic')).toMatchObject({ hasKey: false });
  });

  it('tells what each model takes: as settings say, else as the table, else text alone [CFG-5]', () => {
    const models = { 'claude-opus-4-5': { input: ['text', 'image'] }, mine: {} } as const;
    const listed = gateway({ providers: { anthropic: { adaptor: 'anthropic', models } } }).list();
    const inputs = Object.entries(listed[0]?.facts ?? {}).map(([model, { input }]) => [model, input]);
    expect(Object.fromEntries(inputs)).toMatchObject({
      'claude-opus-4-5': ['text', 'image'],
      'claude-haiku-4-5': ['text', 'image', 'pdf'],
      mine: ['text'],
    });
  });

  it('takes prices for a provider without settings, and a newer catalogue than its own [CFG-5] [SES-10]', async () => {
    const mine = { input: 7, output: 8 };
    const { open, list } = gateway({
      environment: { ANTHROPIC_API_KEY: 'k' },
      pricing: { 'anthropic/claude-sonnet-5-5': mine, 'anthropic/new': mine },
      catalogue: {
        anthropic: {
          'claude-sonnet-5-5': { contextTokens: 2_000_000, pricing: { input: 1, output: 2 } },
          'claude-7': { input: ['text', 'image'], outputTokens: 9000 },
        },
      },
    });
    expect((await open('anthropic/claude-sonnet-5-5')).info).toMatchObject({
      contextTokens: 2_000_000,
      outputTokens: 128_000,
      pricing: mine,
    });
    expect((await open('anthropic/claude-7-20270101')).info).toMatchObject({
      input: ['text', 'image'],
      outputTokens: 9000,
    });
    const anthropic = list().find(({ provider }) => provider === 'anthropic');
    expect(anthropic?.models.slice(0, 4)).toEqual(['claude-sonnet-5-5', 'new', 'claude-7', 'claude-fable-5']);
    expect(anthropic?.facts['claude-sonnet-5-5']?.from).toEqual({
      input: 'built-in',
      contextTokens: 'refreshed',
      outputTokens: 'built-in',
      pricing: 'settings',
    });
  });

  it('names the variables that usually hold keys', () => {
    expect(gateway().credentialVariables()).toEqual(
      expect.arrayContaining(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GROQ_API_KEY', 'GEMINI_API_KEY']),
    );
  });

  it('names its adaptors [CFG-6]', () => {
    expect(gateway().adaptors).toEqual([
      'openai-compatible',
      'openai-chat',
      'openai-responses',
      'anthropic',
      'anthropic-compatible',
      'google-gemini',
      'google-vertex-gemini',
      'aws-bedrock-converse',
      'azure-openai-chat',
      'azure-openai-responses',
      'cohere-v2-chat',
      'scripted',
    ]);
  });
});
