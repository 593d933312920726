import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { summaryOf, Workbench } from './workbench.ts';

const UNKNOWN_SESSION = '0b6f3c1e-5d0a-4c55-9a58-3f6d1f0c2a11';

describe('bad input gets one clear line, the right exit code and leaves nothing behind', () => {
  let bench: Workbench;
  let model: readonly string[] = [];
  beforeAll(async () => {
    bench = await Workbench.create();
    model = await bench.script('- say: hi');
    await bench.write('broken.toml', 'model = "a/b"\n[server\n');
    await bench.write('unknown-key.toml', '\n[tool_output]\nmax_line = 1\n');
    await bench.write('no-home', 'a file');
  });
  afterAll(async () => bench[Symbol.asyncDispose]());

  it.each<[string, readonly [args: readonly string[], code: number, message: RegExp]]>([
    ['an unknown command', [['rum'], 2, /unknown command 'rum' \(Did you mean run\?\)/]],
    [
      'a command that is like none',
      [['frobnicate'], 2, /unknown command 'frobnicate'; "agentd --help" shows/],
    ],
    ['an unknown subcommand', [['sessions', 'shwo'], 2, /unknown command 'shwo' \(Did you mean show\?\)/]],
    [
      'a subcommand that is like none',
      [['sessions', 'fork', 'x'], 2, /unknown command 'fork'; "agentd sessions --help" shows/],
    ],
    ['an unknown flag', [['run', 'x', '--jsn'], 2, /unknown option '--jsn'/]],
    ['a flag of another command', [['tools', 'list', '--max-turns', '1'], 2, /unknown option '--max-turns'/]],
    ['a flag without its value', [['run', 'x', '--mode'], 2, /--mode <MODE>' argument missing/]],
    ['a bad mode', [['run', 'x', '--mode', 'root'], 2, /Allowed choices are ask, auto, yolo/]],
    ['a bad output format', [['run', 'x', '--output', 'xml'], 2, /Allowed choices are text, json, none/]],
    ['a bad number of turns', [['run', 'x', '--max-turns', '0'], 2, /expected a whole number of at least 1/]],
    ['a bad timeout', [['run', 'x', '--timeout', '-1'], 2, /expected a number of seconds above 0/]],
    ['a bad model name', [['run', 'x', '-m', 'gpt'], 2, /expected PROVIDER\/MODEL/]],
    ['a bad rule', [['run', 'x', '--allow', 'bsh:ls'], 2, /--allow bsh:ls: unknown action "bsh"/]],
    ['too many arguments', [['run', 'x', 'y'], 2, /too many arguments/]],
    ['too few arguments', [['tools', 'call', 'read'], 2, /missing required argument 'JSON'/]],
    ['an empty prompt', [['run', ' \n '], 2, /the prompt is empty/]],
    ['two prompts', [['run', 'x', '-f', 'prompt.txt'], 2, /not from both/]],
    [
      'a prompt file that is not there',
      [['run', '-f', 'nowhere.txt'], 2, /nowhere\.txt cannot be read: there is no such file/],
    ],
    [
      'an unknown agent',
      [['run', 'x', '--agent', 'defualt'], 5, /unknown agent "defualt"; did you mean "default"\?/],
    ],
    ['an unknown provider', [['run', 'x', '-m', 'foo/bar'], 5, /no provider is called "foo"/]],
    [
      'a script that is not there',
      [['run', 'x', '-m', 'scripted:nowhere.yaml'], 5, /nowhere\.yaml cannot be read: there is no such file/],
    ],
    [
      'no provider at all',
      [['run', 'x'], 5, /no model: set a key variable .* or pass --model .* or play a script/],
    ],
    [
      'a session that does not exist',
      [['run', 'x', '--session', UNKNOWN_SESSION], 5, /there is no session 0b6f3c1e/],
    ],
    ['a session id that is none', [['run', 'x', '--session', '../x'], 5, /"\.\.\/x" is not a session id/]],
    [
      'a working directory that is not there',
      [['run', 'x', '--cwd', 'nowhere'], 5, /nowhere cannot be used: there is no such place/],
    ],
    [
      'a config with a syntax error',
      [['run', 'x', '--config', '../broken.toml'], 5, /broken\.toml:2:\d+: not valid TOML/],
    ],
    [
      'a config with an unknown key',
      [
        ['run', 'x', '--config', '../unknown-key.toml'],
        5,
        /unknown-key\.toml:3:1: unknown key "max_line" in tool_output; did you mean "max_lines"\?/,
      ],
    ],
    [
      'a config that is not there',
      [['run', 'x', '--config', 'nowhere.toml'], 5, /nowhere\.toml: there is no such file/],
    ],
    [
      'showing a session that does not exist',
      [['sessions', 'show', UNKNOWN_SESSION], 5, /there is no session/],
    ],
    ['showing an agent that does not exist', [['agents', 'show', 'x'], 5, /unknown agent "x"/]],
    [
      'a bad artifact URI',
      [['artifacts', 'show', 'artifact://sha256/x', '--cwd', '.'], 1, /is no artifact URI/],
    ],
  ])('%s [CLI-1] [CLI-3]', async (_, [args, code, message]) => {
    const outcome = await bench.run(args);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).toMatch(/^agentd: [^\n]+\n$/);
    expect(await bench.homeFiles()).toEqual([]);
  });

  it.each([
    ['below a file', 'no-home/x', /cannot be written: it, or a parent, is not a folder/],
    ['a file', 'no-home', /cannot be written: it is not a folder/],
  ])('a home that cannot be written: %s [CLI-3]', async (_, name, message) => {
    const env = { AGENTD_HOME: await bench.write('other', '').then((path) => path.replace(/other$/, name)) };
    const outcome = await bench.run(['run', 'x', '--output', 'json', ...model], { env });
    expect(outcome).toMatchObject({ code: 5, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).toMatch(/^agentd: [^\n]+\n$/);
  });

  it('a home in a file system that takes no folders does not hang [CLI-3]', async () => {
    const outcome = await bench.run(['run', 'x', ...model], { env: { AGENTD_HOME: '/proc/agentd/home' } });
    expect(outcome).toMatchObject({ code: 5, stdout: '' });
    expect(outcome.stderr).toMatch(/^agentd: the home \/proc\/agentd\/home cannot be written: [^\n]+\n$/);
  });

  it('a provider that refuses the key fails the run, whose end is on disk, and shows no key [CLI-3]', async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"bad key"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await using own = await Workbench.create();
    await own.write(
      'home/config.toml',
      `model = "local/m"\n[providers.local]\nadaptor = "openai-compatible"\nbase_url = "http://127.0.0.1:${port}/v1"\napi_key = "sk-very-secret"\n`,
    );
    const { code, lines, stdout, stderr } = await own.runJson([]);
    server.close();
    expect(code).toBe(1);
    expect(summaryOf(lines)).toMatchObject({ status: 'failed', exit_code: 1, error: { code: 'MODEL_AUTH' } });
    expect(lines.at(-2)?.event?.payload.type).toBe('run_failed');
    expect(`${stdout}${stderr}`).not.toContain('sk-very-secret');
  });
});
