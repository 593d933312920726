import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadSettings, parseLayer } from './load-settings.ts';
import { mergeLayers } from './merge-layers.ts';
import { settingsOf } from './settings.ts';

function problem(text: string): string {
  try {
    parseLayer('config.toml', text);
  } catch (error) {
    return String((error as { message?: unknown }).message);
  }
  return 'no problem';
}

const FULL = `
model = "local/qwen3"
[server]
host = "0.0.0.0"
port = 0
[tool_output]
max_lines = 10
max_bytes = 1000
max_capture_bytes = 1048576
[approval]
timeout_ms = 1000
[context]
trigger_percent = 50
[delegation]
max_depth = 1
max_concurrency = 2
max_resident_subagents = 3
idle_eviction_after = "30m"
[messaging]
enabled = false
max_hops = -1
max_body_bytes = 1
max_pending_per_session = 2
max_inflight_per_pair = 0
[goals]
max_idle_runs = 4
[loop_warning]
enabled = false
[bash]
pass_env = ["OPENAI_API_KEY"]
[catalogue]
url = "HTTPS://mirror.example/api.json"
[model_retry]
standard = 0
overload = 1
ceiling_ms = 2
[pricing.models."local/qwen3"]
input = 0.5
output = 1
cache_read = 0
[mcp]
startup_wait_ms = 1
tool_text_budget_tokens = 2
[mcp.servers.files]
command = "node"
args = ["server.js"]
env = { TOKEN = "\${env:FILES_TOKEN}" }
[mcp.servers.remote]
url = "https://\${env:MCP_HOST}/mcp"
headers = { authorization = "Bearer \${env:MCP_TOKEN}" }
oauth = true
enabled = false
lazy = true
timeout_ms = 5
[providers.local]
adaptor = "openai-compatible"
base_url = "http://127.0.0.1:11434/v1"
api_key = "\${env:LOCAL_KEY}"
[providers.local.models."qwen3"]
input = ["text", "image"]
context_tokens = 32768
output_tokens = 8192
media.image = { max_bytes = 5242880, max_count = 20 }
[providers.play]
adaptor = "scripted"
script = "play.yaml"
`;

describe('parseLayer', () => {
  it('accepts every table that the interface names [CFG-3]', () => {
    const settings = settingsOf(parseLayer('config.toml', FULL));
    expect(settings).toMatchObject({
      model: 'local/qwen3',
      server: { host: '0.0.0.0', port: 0 },
      tool_output: { max_lines: 10, max_bytes: 1000, max_capture_bytes: 1_048_576 },
      delegation: { max_depth: 1, idle_eviction_after: 1_800_000 },
      messaging: { enabled: false, max_hops: -1, max_inflight_per_pair: 0 },
      bash: { pass_env: ['OPENAI_API_KEY'] },
      model_retry: { standard: 0, overload: 1, ceiling_ms: 2 },
      catalogue: { url: 'HTTPS://mirror.example/api.json' },
      pricing: { 'local/qwen3': { input: 0.5, output: 1, cache_read: 0 } },
    });
    expect(settings.providers['local']?.models?.['qwen3']?.media?.image).toEqual({
      max_bytes: 5_242_880,
      max_count: 20,
    });
  });

  it('has the defaults of the interface [CFG-3]', () => {
    expect(settingsOf(parseLayer('config.toml', ''))).toEqual({
      model: null,
      server: { host: '127.0.0.1', port: 7420 },
      tool_output: { max_lines: 2000, max_bytes: 51_200, max_capture_bytes: 4_294_967_296 },
      approval: { timeout_ms: 300_000 },
      context: { trigger_percent: 70 },
      delegation: {
        max_depth: 3,
        max_concurrency: 4,
        max_resident_subagents: 20,
        idle_eviction_after: 3_600_000,
      },
      messaging: {
        enabled: true,
        max_hops: 0,
        max_body_bytes: 32_768,
        max_pending_per_session: 32,
        max_inflight_per_pair: 4,
      },
      goals: { max_idle_runs: 10 },
      loop_warning: { enabled: true },
      bash: { pass_env: [] },
      model_retry: { standard: 3, overload: 5, ceiling_ms: 60_000 },
      catalogue: { url: 'https://models.dev/api.json' },
      pricing: {},
      mcp: { startup_wait_ms: 5000, tool_text_budget_tokens: 10_000, servers: {} },
      providers: {},
      refreshed: {},
    });
  });

  it.each([
    ['a syntax error', 'model = "a/b"\n\nport = \n', /^config\.toml:3:\d+: not valid TOML: /],
    [
      'an unknown key',
      'model = "a/b"\nmodle = "x"',
      'config.toml:2:1: unknown key "modle"; did you mean "model"?',
    ],
    [
      'an unknown table',
      '[servers]\nport = 1',
      'config.toml:1:2: unknown key "servers"; did you mean "server"?',
    ],
    [
      'an unknown key in a table',
      '[tool_output]\nmax_lines = 1\nmax_line = 2',
      'config.toml:3:1: unknown key "max_line" in tool_output; did you mean "max_lines"?',
    ],
    [
      'an unknown key in an inline table',
      '[providers.p]\nadaptor = "anthropic"\nmodels.m.media.image = { max_byte = 1 }',
      'config.toml:3:26: unknown key "max_byte" in providers.p.models.m.media.image; did you mean "max_bytes"?',
    ],
    [
      'a wrong type',
      '[server]\nport = "7420"',
      'config.toml:2:1: server.port: expected an integer from 0 to 65535, got "7420"',
    ],
    [
      'no coercion',
      '[goals]\nmax_idle_runs = 1.5',
      /config\.toml:2:1: goals\.max_idle_runs: expected a positive integer, got the number 1\.5/,
    ],
    [
      'a bad value',
      '[tool_output]\nmax_lines = 0',
      /tool_output\.max_lines: expected a positive integer, got the number 0/,
    ],
    ['a bad model', 'model = "gpt"', 'config.toml:1:1: model: expected "provider/model", got "gpt"'],
    [
      'a bad duration',
      '[delegation]\nidle_eviction_after = "soon"',
      /expected a duration such as "30s", "10m" or "1h"/,
    ],
    [
      'a bad address',
      '[catalogue]\nurl = "models.dev"',
      'config.toml:2:1: catalogue.url: expected an http or https address, got a string',
    ],
    [
      'a table in the wrong place',
      'server = 1',
      'config.toml:1:1: server: expected a table, got the number 1',
    ],
    [
      'a missing key',
      '\n[providers.p]\nbase_url = "x"',
      /^config\.toml:2:\d+: providers\.p\.adaptor is missing: expected one of "openai-compatible", /,
    ],
    [
      'an unknown adaptor',
      '[providers.p]\nadaptor = "openai"',
      /config\.toml:2:1: providers\.p\.adaptor: expected one of /,
    ],
    [
      'a script for another adaptor',
      '[providers.p]\nadaptor = "anthropic"\nscript = "x"',
      /config\.toml:3:1: providers\.p\.script: expected only with adaptor = "scripted"/,
    ],
    [
      'a setting of another platform',
      '[providers.p]\nadaptor = "anthropic"\nregion = "eu-west-1"',
      'config.toml:3:1: providers.p.region: expected only with adaptor = "aws-bedrock-converse", got "eu-west-1"',
    ],
    [
      'a token where there is none, and never the token',
      '[providers.p]\nadaptor = "cohere-v2-chat"\naccess_token = "hush-hush"',
      /^config\.toml:3:1: providers\.p\.access_token: expected only with adaptor = "google-vertex-gemini" or (?!.*hush)/,
    ],
    [
      'a scripted provider without its script',
      '[providers.p]\nadaptor = "scripted"',
      /providers\.p\.script is missing: expected the path of a YAML script/,
    ],
    [
      'a server with command and url',
      '[mcp.servers.x]\ncommand = "a"\nurl = "b"',
      /config\.toml:1:\d+: mcp\.servers\.x: expected exactly one of "command" and "url", got both$/,
    ],
    [
      'a server with neither',
      '[mcp.servers.x]\nlazy = true',
      /config\.toml:1:\d+: mcp\.servers\.x: expected exactly one of "command" and "url", got neither$/,
    ],
    [
      'a key that hides in the prototype',
      '[__proto__]\nmodel = 1',
      'config.toml:1:2: unknown key "__proto__"',
    ],
    [
      'a secret where a table belongs',
      '[mcp.servers.x]\nurl = "u"\nheaders = "sk-secret"',
      /mcp\.servers\.x\.headers: expected a table of strings, got a string$/,
    ],
    ['a key twice', '[server]\nport = 1\nport = 2', /^config\.toml:3:\d+: not valid TOML: /],
  ])('names file, line, key and what was expected: %s [CFG-2]', (_, text, expected) => {
    if (typeof expected === 'string') expect(problem(text)).toBe(expected);
    else expect(problem(text)).toMatch(expected);
  });

  it('counts further problems and names the first in the file [CFG-2]', () => {
    expect(problem('[server]\nport = "x"\n[goals]\nmax_idle_runs = 0\n[bash]\nx = 1')).toBe(
      'config.toml:2:1: server.port: expected an integer from 0 to 65535, got "x" (and 2 more problems in this file)',
    );
  });

  it('never shows a value, which may be a secret [CFG-2]', () => {
    const text = '[providers.p]\nadaptor = "anthropic"\napi_key = ["sk-secret"]\nheaders = "sk-secret"';
    expect(problem(text)).toContain('providers.p.api_key: expected a non-empty string, got a list');
    expect(problem(text)).not.toContain('sk-secret');
  });

  it.each([
    [
      'model',
      'model = "${env:M}/x"',
      'config.toml:1:1: model: ${env:NAME} may stand only in credential, url and header values',
    ],
    [
      'a command',
      '[mcp.servers.x]\ncommand = "${env:HOME}/bin"',
      /config\.toml:2:1: mcp\.servers\.x\.command: \$\{env:NAME\} may stand only/,
    ],
    ['a list', '[bash]\npass_env = ["${env:X}"]', /config\.toml:2:13: bash\.pass_env\.0: /],
    [
      'no name',
      '[providers.p]\nadaptor = "anthropic"\napi_key = "${env:}"',
      /config\.toml:3:1: providers\.p\.api_key: expected \$\{env:NAME\} with the name/,
    ],
    [
      'no end',
      '[providers.p]\nadaptor = "anthropic"\napi_key = "${env:KEY"',
      /expected \$\{env:NAME\} with the name/,
    ],
  ])('refuses a reference to the environment in %s [CFG-4]', (_, text, expected) => {
    if (typeof expected === 'string') expect(problem(text)).toBe(expected);
    else expect(problem(text)).toMatch(expected);
  });
});

describe('mergeLayers', () => {
  it('replaces by id and never merges fields [CFG-1]', () => {
    const user = parseLayer('user.toml', FULL);
    const workspace = parseLayer(
      'workspace.toml',
      '[tool_output]\nmax_lines = 7\n[providers.local]\nadaptor = "anthropic"\n[mcp.servers.files]\nurl = "http://x"',
    );
    const settings = settingsOf(mergeLayers(user, workspace));
    expect(settings.tool_output).toEqual({
      max_lines: 7,
      max_bytes: 51_200,
      max_capture_bytes: 4_294_967_296,
    });
    expect(settings.providers['local']).toEqual({ adaptor: 'anthropic' });
    expect(settings.providers['play']).toEqual({ adaptor: 'scripted', script: resolve('play.yaml') });
    expect(settings.mcp.servers['files']).toEqual({ url: 'http://x' });
    expect(settings.mcp.servers['remote']?.lazy).toBe(true);
    expect(settings.mcp.startup_wait_ms).toBe(1);
    expect(settings.model).toBe('local/qwen3');
  });
});

describe('loadSettings', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentd-settings-'));
  });
  afterAll(async () => rm(folder, { recursive: true }));

  it('takes a missing user file as empty, and --config in place of it [CFG-1]', async () => {
    const userFile = join(folder, 'config.toml');
    const places = { userFile, explicitFile: null, workspaceFile: null, catalogueFile: join(folder, 'none') };
    expect((await loadSettings(places)).model).toBeNull();
    await writeFile(userFile, 'model = "user/a"');
    expect((await loadSettings(places)).model).toBe('user/a');
    const explicitFile = join(folder, 'other.toml');
    await writeFile(explicitFile, '[goals]\nmax_idle_runs = 3');
    const explicit = await loadSettings({ ...places, explicitFile });
    expect(explicit).toMatchObject({ model: null, goals: { max_idle_runs: 3 } });
  });

  it('refuses a --config file that is not there [CFG-2]', async () => {
    const explicitFile = join(folder, 'nowhere.toml');
    const none = join(folder, 'none.toml');
    const places = { userFile: none, explicitFile, workspaceFile: null, catalogueFile: none };
    await expect(loadSettings(places)).rejects.toMatchObject({
      code: 'AGENTD_SET_UP',
      message: `${explicitFile}: there is no such file (--config)`,
    });
  });
});
