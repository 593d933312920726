import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { payloads, summaryOf, Workbench } from './workbench.ts';

let bench: Workbench;
beforeAll(async () => (bench = await Workbench.create()));
afterAll(async () => bench[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const name of ['one', 'two']) {
    await bench.write(
      `home/${name}.yaml`,
      `agents:\n  default:\n    - say: from ${name}\n  helper:\n    - say: helper from ${name}\n`,
    );
  }
});
afterEach(async () => {
  for (const folder of [bench.home, join(bench.workspace, '.agentd')])
    await rm(folder, { recursive: true, force: true });
});

function provider(name: string, script = name): string {
  return `[providers.${name}]\nadaptor = "scripted"\nscript = "${script}.yaml"\n`;
}

describe('the model of a run', () => {
  it('is --model, else the agent’s, else the setting [CFG-4]', async () => {
    await bench.write('home/config.toml', `model = "one/m"\n${provider('one')}${provider('two')}`);
    expect((await bench.run(['run', 'go'])).stdout).toBe('from one\n');
    await bench.write('home/agents/default.md', '---\ndescription: d\nmodels: [two/m, one/m]\n---\n');
    expect((await bench.run(['run', 'go'])).stdout).toBe('from two\n');
    expect((await bench.run(['run', 'go', '-m', 'one/x'])).stdout).toBe('from one\n');
  });

  it('is that of the first provider with a key where nothing else is said [CFG-4]', async () => {
    const env = { OPENAI_API_KEY: 'k' };
    const { stdout } = await bench.run(['models', 'list', '--json'], { env });
    const listed = JSON.parse(stdout) as {
      default: string;
      providers: { provider: string; usable: string | null }[];
    };
    expect(listed.default).toMatch(/^openai\//);
    expect(listed.providers.find((entry) => entry.provider === 'openai')?.usable).toBeNull();
    expect(listed.providers.find((entry) => entry.provider === 'anthropic')?.usable).toContain(
      'ANTHROPIC_API_KEY',
    );
  });

  it('is listed with the media that it takes and its API carries [CFG-5] [MED-3]', async () => {
    const model = '[providers.lab.models.m]\ninput = ["text", "image", "pdf", "video"]\n';
    await bench.write('home/config.toml', `[providers.lab]\nadaptor = "azure-openai-chat"\n${model}`);
    expect((await bench.run(['models', 'list'])).stdout).toMatch(/^ {2}m +image 20 MiB x20 +128000 in all/m);
    const { stdout } = await bench.run(['models', 'list', '--json']);
    const { providers } = JSON.parse(stdout) as { providers: object[] };
    expect(providers[0]).toMatchObject({
      facts: {
        m: {
          input: ['text', 'image', 'pdf', 'video'],
          media: { image: { maxBytes: 20 * 1024 * 1024, maxCount: 20 } },
        },
      },
    });
  });

  it('needs a provider’s variable only where that provider is used, and never shows a key [CFG-4]', async () => {
    await bench.write(
      'home/config.toml',
      `model = "one/m"\n${provider('one')}[providers.remote]\nadaptor = "anthropic"\napi_key = "\${env:NOT_SET_HERE}"\n`,
    );
    expect(await bench.run(['run', 'go'])).toEqual({ code: 0, stdout: 'from one\n', stderr: '' });
    const missing = await bench.run(['run', 'go', '-m', 'remote/m']);
    expect(missing).toEqual({
      code: 5,
      stdout: '',
      stderr: 'agentd: the environment variable NOT_SET_HERE is not set: provider "remote" needs it\n',
    });
    const shown = await bench.run(['models', 'list'], { env: { NOT_SET_HERE: 'sk-secret' } });
    expect(shown.stdout).toMatch(/remote +anthropic +ready/);
    expect(shown.stdout).not.toContain('sk-secret');
  });
});

describe('what a workspace brings', () => {
  beforeEach(async () => {
    await bench.write('home/config.toml', `model = "one/m"\n${provider('one')}${provider('two')}`);
    await bench.write(
      'ws/.agentd/config.toml',
      `model = "two/m"\n[providers.two]\nadaptor = "scripted"\nscript = "../../home/two.yaml"\n`,
    );
  });

  it('is skipped with one diagnostic, unless it is trusted [CFG-1]', async () => {
    const skipped = await bench.run(['run', 'go']);
    expect(skipped).toEqual({
      code: 0,
      stdout: 'from one\n',
      stderr: `${bench.workspace}/.agentd/config.toml is not trusted: skipped (look at it and run "agentd trust", or use --trust for this run)\n`,
    });
    expect(await bench.run(['run', 'go', '--trust'])).toEqual({ code: 0, stdout: 'from two\n', stderr: '' });
  });

  it('replaces agents by id [CFG-1] [CFG-7]', async () => {
    await bench.write('home/agents/helper.md', '---\ndescription: user\n---\nUser prompt');
    await bench.write('ws/.agentd/agents/helper.md', '---\ndescription: workspace\n---\nWorkspace prompt');
    const user = await bench.run(['agents', 'show', 'helper']);
    expect(user.stdout).toContain('User prompt');
    expect(user.stderr).toMatch(/config\.toml and .*\.agentd\/agents are not trusted: skipped/);
    const workspace = await bench.run(['agents', 'show', 'helper', '--trust']);
    expect(workspace).toMatchObject({ code: 0, stderr: '' });
    expect(workspace.stdout).toContain('Workspace prompt');
  });

  it('names the file and line of a fault in it once it counts [CFG-2]', async () => {
    await bench.write('ws/.agentd/config.toml', 'model = 1\n');
    const outcome = await bench.run(['run', 'go', '--trust']);
    expect(outcome).toMatchObject({ code: 5, stdout: '' });
    expect(outcome.stderr).toBe(
      `agentd: ${bench.workspace}/.agentd/config.toml:1:1: model: expected "provider/model", got the number 1\n`,
    );
  });

  it.each(['AGENTS.md', 'CLAUDE.md'])('%s goes to the run [CFG-1]', async (name) => {
    const path = await bench.write(`ws/${name}`, 'Speak softly.\n');
    const { lines } = await bench.runJson([]);
    await rm(path);
    expect(payloads(lines, 'agents_md_loaded')).toMatchObject([{ path, text: 'Speak softly.\n' }]);
  });
});

describe('agent documents', () => {
  beforeEach(async () => {
    await bench.write('home/config.toml', `model = "one/m"\n${provider('one')}`);
  });

  it('serve in place of the built-in one: the only primary one by itself [PERM-5] [CFG-7]', async () => {
    await bench.write('home/agents/helper.md', '---\ndescription: d\nmode: primary\n---\n');
    await bench.write('home/agents/worker.md', '---\ndescription: d\nmode: subagent\n---\n');
    const { lines } = await bench.runJson([]);
    expect(payloads(lines, 'run_started')).toMatchObject([{ agent: 'helper', tools: [] }]);
    expect(summaryOf(lines)).toMatchObject({ final_text: 'helper from one' });
    const asWorker = await bench.run(['run', 'go', '--agent', 'worker']);
    expect(asWorker).toMatchObject({ code: 5, stdout: '' });
    expect(asWorker.stderr).toContain('agent "worker" has mode "subagent"');
    await bench.write('home/agents/other.md', '---\ndescription: d\n---\n');
    const several = await bench.run(['run', 'go']);
    expect(several.code).toBe(5);
    expect(several.stderr).toContain('choose one with --agent (helper, other)');
  });

  it('fail with file and line [CFG-7]', async () => {
    const file = await bench.write('home/agents/helper.md', '---\ndescription: d\nmodle: x\n---\n');
    const outcome = await bench.run(['run', 'go']);
    expect(outcome).toMatchObject({ code: 5, stdout: '' });
    expect(outcome.stderr).toContain(`${file}:3:1: unknown key "modle"; did you mean "mode"?`);
  });

  it('print the built-in one, which works as a document of one’s own [PERM-5]', async () => {
    const { stdout } = await bench.run(['agents', 'show', 'default']);
    await bench.write('home/agents/default.md', stdout);
    const copied = await bench.run(['agents', 'list', '--json']);
    expect(JSON.parse(copied.stdout)).toMatchObject([
      { id: 'default', mode: 'primary', file: join(bench.home, 'agents/default.md') },
    ]);
    expect((await bench.run(['agents', 'show', 'default'])).stdout).toBe(stdout);
  });
});

describe('agentd doctor', () => {
  it('says what is well and what to mend [CLI-1]', async () => {
    await bench.write('home/config.toml', `model = "one/m"\n${provider('one')}`);
    const { chmod } = await import('node:fs/promises');
    await chmod(bench.home, 0o700);
    const well = await bench.run(['doctor', '--json']);
    expect(well.code).toBe(0);
    const subjects = (JSON.parse(well.stdout) as { subject: string; ok: boolean }[]).map(
      ({ subject }) => subject,
    );
    expect(subjects).toEqual([
      'node',
      'home',
      'settings',
      'provider one',
      'model',
      'agents',
      'locks',
      'bash',
    ]);
    await chmod(bench.home, 0o755);
    await bench.write('home/config.toml', 'modle = 1\n');
    await bench.write('home/agents/Bad.md', '');
    const ill = await bench.run(['doctor']);
    expect(ill.code).toBe(1);
    expect(ill.stdout).toMatch(/^problem {2}home: .* run: chmod 700 /m);
    expect(ill.stdout).toMatch(/^problem {2}settings: .*config\.toml:1:1: unknown key "modle"/m);
    expect(ill.stdout).toMatch(/^problem {2}agents: .*Bad\.md:1:1: agent id "Bad"/m);
    expect(ill.stdout).toMatch(/^ok {7}bash: /m);
    await bench.write('home/config.toml', 'model = "x/m"\n[providers.x]\nadaptor = "openai-compatible"\n');
    const unusable = (await bench.run(['doctor'])).stdout;
    expect(unusable).toMatch(/^ok {7}settings: valid$/m);
    expect(unusable).toMatch(/^problem {2}provider x: .*has no base_url: write e\.g\. base_url/m);
    expect(unusable).toMatch(/^problem {2}model: see provider x$/m);
  });
});
