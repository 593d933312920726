import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonLines, payloads, Workbench } from './workbench.ts';

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: { readonly type: string; readonly additionalProperties: boolean };
}

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.create();
  await bench.write('ws/a.txt', 'alpha\nbeta\ngamma\n');
});
afterAll(async () => bench[Symbol.asyncDispose]());

describe('agentd tools call', () => {
  it('prints what a model would read, the error after the output and the next offset last [CLI-6] [ERR-2]', async () => {
    const page = await bench.run(['tools', 'call', 'read', '{"filePath":"a.txt","limit":1}']);
    expect(page.code).toBe(0);
    expect(page.stdout).toMatch(/\n1: alpha\n<\/content>\n\[next_offset: 1\]\n$/);
    const failed = await bench.run([
      'tools',
      'call',
      'bash',
      '{"command":"echo out; kill -9 $$"}',
      '--mode',
      'yolo',
    ]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/\[stdout\]\nout\n[^]*signal: SIGKILL\nerror: signal: [^\n]+\n$/);
  });

  it('prints one object with --json, text being the output alone [CLI-6]', async () => {
    const { code, stdout } = await bench.run([
      'tools',
      'call',
      'read',
      '{"filePath":"a.txt","limit":1}',
      '--json',
    ]);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    const report = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(report)).toEqual([
      'outcome',
      'text',
      'metadata',
      'display',
      'attachments',
      'retained_output',
      'error',
      'session_id',
      'run_id',
      'tool_call_id',
    ]);
    expect(report).toMatchObject({
      outcome: 'completed',
      error: null,
      attachments: [],
      retained_output: null,
    });
    expect(report['text']).not.toContain('next_offset');
    expect(report['metadata']).toMatchObject({ next_offset: 1 });
  });

  it('logs one run with this one call in a session of its own, whose artifacts can be shown [CLI-6]', async () => {
    const { stdout } = await bench.run([
      'tools',
      'call',
      'bash',
      '{"command":"seq 1 5000"}',
      '--allow',
      'bash:seq *',
      '--json',
    ]);
    const report = JSON.parse(stdout) as { session_id: string; run_id: string; text: string };
    const { stdout: logged } = await bench.run(['sessions', 'events', report.session_id]);
    const lines = jsonLines(logged).map((event) => ({ type: 'event', event: event as never }));
    expect(payloads(lines, 'run_started')).toHaveLength(1);
    expect(payloads(lines, 'tool_call_started')).toHaveLength(1);
    expect(payloads(lines, 'tool_call_terminated')).toMatchObject([{ outcome: 'completed' }]);

    const [uri = ''] = /artifact:\/\/[0-9a-f]{64}\/stdout/.exec(report.text) ?? [];
    const page = await bench.run(['artifacts', 'show', uri, '--offset', '2500', '--limit', '2']);
    expect(page).toEqual({ code: 0, stdout: '2501\n2502\n', stderr: 'more: --offset 2502\n' });
    const json = await bench.run(['artifacts', 'show', uri, '--offset', '4999', '--json', '--cwd', '.']);
    expect(JSON.parse(json.stdout)).toEqual({ text: '5000\n', next_offset: null });
    const elsewhere = await bench.run(['artifacts', 'show', uri, '--cwd', '/']);
    expect(elsewhere).toMatchObject({ code: 1, stdout: '' });
    expect(elsewhere.stderr).toContain('is stored in no project of');
  });

  it.each([
    ['JSON that does not parse', '{"filePath":', 'invalid_arguments'],
    ['an unknown field', '{"filePath":"a.txt","x":1}', 'invalid_arguments'],
    ['a list', '[]', 'invalid_arguments'],
    ['a file that is not there', '{"filePath":"b.txt"}', 'not_found'],
  ])('exits 1 for %s, and says so [CLI-6] [ARG-2] [ARG-3]', async (_, args, code) => {
    const outcome = await bench.run(['tools', 'call', 'read', args, '--json']);
    expect(outcome.code).toBe(1);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ outcome: 'failed', error: { code } });
  });

  it('names the published tools for an unknown one [CLI-6] [ARG-5]', async () => {
    const outcome = await bench.run(['tools', 'call', 'raed', '{}']);
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toMatch(/^error: not_published: .*read.*write.*edit.*bash/);
  });

  it('denies asks without --mode, also in a session that ran with yolo [CLI-6] [PERM-6]', async () => {
    const call = ['tools', 'call', 'bash', '{"command":"echo hi"}', '--json'];
    const approved = await bench.run([...call, '--mode', 'yolo']);
    const { session_id: id } = JSON.parse(approved.stdout) as { session_id: string };
    expect(approved.code).toBe(0);
    const denied = await bench.run([...call, '--session', id]);
    expect(denied.code).toBe(1);
    expect(JSON.parse(denied.stdout)).toMatchObject({
      session_id: id,
      error: { code: 'permission_denied' },
      metadata: { denial: { kind: 'tool_denied', rule: 'bash: * = ask' } },
    });
  });

  it('keeps provider keys from commands, and pass_env gives them back [BASH-2] [CFG-3]', async () => {
    await bench.write(
      'home/config.toml',
      '[bash]\npass_env = ["OPENAI_API_KEY"]\n[providers.p]\nadaptor = "anthropic"\napi_key = "${env:MY_KEY}"\n',
    );
    const env = { MY_KEY: 'k1', ANTHROPIC_API_KEY: 'k2', OPENAI_API_KEY: 'k3', OTHER: 'o' };
    const args = '{"command":"echo [$MY_KEY$ANTHROPIC_API_KEY$OPENAI_API_KEY$OTHER]"}';
    const { stdout } = await bench.run(['tools', 'call', 'bash', args, '--mode', 'yolo'], { env });
    await bench.write('home/config.toml', '');
    expect(stdout).toContain('\n[k3o]\n');
  });
});

describe('agentd tools list', () => {
  async function names(args: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await bench.run(['tools', 'list', '--json', ...args]);
    return (JSON.parse(stdout) as readonly Definition[]).map(({ name }) => name);
  }

  it('shows the definitions as they are sent to a model, and writes nothing [CLI-1] [ARG-4]', async () => {
    await using fresh = await Workbench.create();
    const { code, stdout } = await fresh.run(['tools', 'list', '--json']);
    const definitions = JSON.parse(stdout) as readonly Definition[];
    expect(code).toBe(0);
    expect(definitions.map(({ name }) => name)).toEqual(['read', 'write', 'edit', 'bash', 'webfetch']);
    for (const definition of definitions) {
      expect(Object.keys(definition)).toEqual(['name', 'description', 'parameters']);
      expect(definition.parameters).toMatchObject({ type: 'object', additionalProperties: false });
    }
    expect(await fresh.homeFiles()).toEqual([]);
    expect((await fresh.run(['tools', 'list'])).stdout).toContain('"filePath"');
  });

  it('publishes by the agent and the overlay [PERM-3]', async () => {
    await bench.write(
      'home/agents/reader.md',
      '---\ndescription: reads\npermissions: { read: allow }\n---\n',
    );
    expect(await names([])).toEqual(['read']);
    expect(await names(['--allow', 'write:x'])).toEqual(['read', 'write', 'edit']);
  });
});
