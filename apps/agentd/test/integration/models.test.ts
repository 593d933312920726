import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openaiTurn, startModelServer } from '@agentd/model-gateway/testing';
import { payloads, Workbench } from './workbench.ts';

const CATALOGUE = {
  openai: {
    models: {
      'gpt-9': {
        modalities: { input: ['text', 'image'], output: ['text'] },
        limit: { context: 90_000, output: 9000 },
        cost: { input: 9, output: 90 },
      },
    },
  },
  lab: {
    models: { seen: { modalities: { input: ['text', 'image', 'audio'] }, limit: { context: 80_000 } } },
  },
};

let bench: Workbench;
let server: Server;
let url: string;
beforeAll(async () => {
  bench = await Workbench.create();
  server = createServer((_request, response) => response.end(JSON.stringify(CATALOGUE))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`;
});
afterAll(async () => {
  server.close();
  await bench[Symbol.asyncDispose]();
});
afterEach(async () => rm(bench.home, { recursive: true, force: true }));

interface Listed {
  readonly providers: readonly {
    readonly provider: string;
    readonly models: readonly string[];
    readonly facts: Readonly<Record<string, { readonly from: object; readonly [name: string]: unknown }>>;
  }[];
}

async function factsOf(provider: string, env = {}) {
  const { stdout } = await bench.run(['models', 'list', '--json'], { env });
  return (JSON.parse(stdout) as Listed).providers.find((one) => one.provider === provider)?.facts ?? {};
}

const LAB = '[providers.lab]\nadaptor = "openai-compatible"\nbase_url = "http://127.0.0.1:1/v1"\n';

describe('models refresh', () => {
  it('renews what models list and runs know, for providers of one’s own as well, and settings win over it [CFG-5] [SES-10]', async () => {
    await using provider = await startModelServer();
    provider.reply(openaiTurn({ text: 'Hi.', usage: { prompt_tokens: 1_000_000, completion_tokens: 0 } }));
    const settings = [
      `[catalogue]\nurl = "${url}"`,
      LAB.replace('http://127.0.0.1:1', provider.url),
      '[providers.lab.models.seen]\ncontext_tokens = 70000\nmedia.image = { max_count = 3 }',
      '[pricing.models."openai/gpt-9"]\ninput = 1\noutput = 2',
      '[pricing.models."lab/seen"]\ninput = 5\noutput = 6',
    ];
    await bench.write('home/config.toml', settings.join('\n'));
    const refreshed = await bench.run(['models', 'refresh']);
    expect(refreshed).toEqual({
      code: 0,
      stdout: `2 models of 2 providers from ${url}, kept in ${bench.home}/models.json\n`,
      stderr: '',
    });
    expect(await factsOf('lab')).toEqual({
      seen: {
        input: ['text', 'image', 'audio'],
        contextTokens: 70_000,
        outputTokens: 8192,
        pricing: { input: 5, output: 6 },
        // Chat Completions carries no sound.
        media: { image: { maxBytes: 20 * 1024 * 1024, maxCount: 3 } },
        from: {
          input: 'refreshed',
          contextTokens: 'settings',
          outputTokens: 'guess',
          pricing: 'settings',
          media: 'settings',
        },
      },
    });
    expect((await factsOf('openai'))['gpt-9']).toMatchObject({
      contextTokens: 90_000,
      pricing: { input: 1, output: 2 },
      from: { contextTokens: 'refreshed', pricing: 'settings' },
    });
    expect((await bench.run(['models', 'list'])).stdout).toMatch(
      new RegExp(`^refreshed: \\d{4}-.*Z from ${url}$`, 'm'),
    );
    const ran = await bench.runJson(['-m', 'lab/seen']);
    expect(payloads(ran.lines, 'model_usage_recorded')).toMatchObject([{ cost_usd: 5 }]);
  });

  it('says as JSON what it kept, takes --from before the settings, and fails in one line [CFG-5] [CLI-1] [CLI-3]', async () => {
    await bench.write('home/config.toml', '[catalogue]\nurl = "http://127.0.0.1:1/api.json"\n');
    const { stdout, code } = await bench.run(['models', 'refresh', '--from', url, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      source: url,
      fetched_at: expect.stringMatching(/^\d{4}-.*Z$/),
      file: `${bench.home}/models.json`,
      models: 1,
      providers: 1,
    });
    const failed = await bench.run(['models', 'refresh']);
    expect(failed).toMatchObject({ code: 5, stdout: '' });
    expect(failed.stderr).toMatch(
      /^agentd: no catalogue of models came from http:\/\/127\.0\.0\.1:1\/api\.json: .*ECONNREFUSED.*\n$/,
    );
    expect(Object.keys(await factsOf('openai'))).toContain('gpt-9');
  });
});

describe('models list', () => {
  it('shows what each model of a usable provider takes, its limits and prices, and where each is known from [CFG-5] [MED-4]', async () => {
    const models =
      '[providers.lab.models.m]\ninput = ["text", "image", "pdf"]\nmedia.image = { max_bytes = 5000 }\n';
    await bench.write('home/config.toml', LAB + models);
    const { stdout } = await bench.run(['models', 'list'], { env: { COHERE_API_KEY: 'k' } });
    expect(stdout).toMatch(/^lab +openai-compatible +ready$/m);
    expect(stdout).toMatch(
      /^ {2}m +image 5000 B x20, pdf 20 MiB x20 of 100 pages +128000 in all, 8192 out +no price +settings: input, media; guess: context, output$/m,
    );
    expect(stdout).toMatch(
      /^ {2}command-a-plus-05-2026 +image 20 MiB x20 +128000 in all, 64000 out +\$2.5 in, \$10 out +built-in$/m,
    );
    expect(stdout).toMatch(/^anthropic +anthropic +needs ANTHROPIC_API_KEY +\d+ models known$/m);
    expect(stdout).not.toContain('claude');
  });
});
