import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { WIRES, WIRE_ADAPTORS } from './testing/wires.ts';

const run = promisify(execFile);
const PACKAGE = join(import.meta.dirname, '..');

/** Names that the packages read while they are imported, or could. */
const HOSTILE = {
  ANTHROPIC_BASE_URL: '',
  OPENAI_BASE_URL: '',
  AWS_ENDPOINT_URL: 'no url',
  COHERE_API_KEY: '',
  GOOGLE_VERTEX_LOCATION: 'a/b',
};

/** Opens models in a fresh process and tells which packages of providers each of them loaded first. */
async function loadedBy(models: readonly string[]) {
  const providers = Object.fromEntries(
    WIRE_ADAPTORS.map((adaptor) => [
      adaptor,
      { adaptor, baseUrl: 'http://127.0.0.1:1/v1', ...WIRES[adaptor].settings },
    ]),
  );
  const source = `
    import { registerHooks } from 'node:module';
    let seen = [];
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.push(found.url); return found; } });
    const { createModelGateway } = await import('@agentd/model-gateway');
    const { systemClock } = await import('@agentd/contract');
    const gateway = createModelGateway({ environment: {}, clock: systemClock, providers: ${JSON.stringify(providers)} });
    const rows = {};
    for (const model of ${JSON.stringify(models)}) {
      await gateway.open(model);
      rows[model] = [...new Set(seen.join(' ').match(/@ai-sdk\\/[a-z-]+|google-auth-library/g) ?? [])].toSorted();
      seen = [];
    }
    console.log(JSON.stringify(rows));`;
  const { stdout } = await run(
    process.execPath,
    ['--conditions=@agentd/source', '--input-type=module', '--eval', source],
    { cwd: PACKAGE, env: { PATH: process.env['PATH'], ...HOSTILE } },
  );
  return JSON.parse(stdout) as Record<string, string[]>;
}

describe('an adaptor', () => {
  it('costs no provider package for a scripted model', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentd-gateway-'));
    const script = `scripted:${join(folder, 's.yaml')}`;
    await writeFile(join(folder, 's.yaml'), 'agents: {}');
    const loaded = await loadedBy([script]);
    await rm(folder, { recursive: true });
    expect(loaded[script]).toEqual([]);
  });

  it('loads its own package at first use, whatever the environment holds [CFG-6]', async () => {
    const models = [
      'openai-compatible/m',
      'openai-chat/m',
      'azure-openai-responses/m',
      'anthropic/m',
      'anthropic-compatible/m',
      'google-gemini/m',
      'google-vertex-gemini/m',
      'cohere-v2-chat/m',
      'aws-bedrock-converse/m',
    ];
    const own = await loadedBy(models);
    const withoutShared = models.map((model) =>
      (own[model] ?? []).filter((name) => !/\/provider(?:-utils)?$/.test(name)),
    );
    expect(withoutShared).toEqual([
      ['@ai-sdk/openai-compatible'],
      ['@ai-sdk/openai'],
      [],
      ['@ai-sdk/anthropic'],
      [],
      ['@ai-sdk/google'],
      [],
      ['@ai-sdk/cohere'],
      ['@ai-sdk/amazon-bedrock', '@ai-sdk/anthropic'],
    ]);
  });
});
