import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Workbench } from './workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.create();
});
afterAll(async () => bench[Symbol.asyncDispose]());

/** Living processes whose command line holds the text. */
function processesWith(text: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const isDead = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return !isDead && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}

describe('a command that agentd runs', () => {
  it('sees the environment but for the keys of providers, by name and from the catalogue [BASH-2] [field C14]', async () => {
    await bench.write(
      'home/config.toml',
      '[providers.p]\nadaptor = "anthropic"\napi_key = "${env:FAKE_PROVIDER_API_KEY}"\n',
    );
    const env = {
      FAKE_PROVIDER_API_KEY: 'sk-test',
      ANTHROPIC_API_KEY: 'sk-usual',
      DATABASE_URL: 'pg://x',
      GH_TOKEN: 't',
      LANG: 'C.UTF-8',
    };
    const args = ['tools', 'call', 'bash', '{"command":"env"}', '--mode', 'yolo'];
    const { stdout } = await bench.run(args, { env });
    await bench.write('home/config.toml', '');
    const seen = new Map(stdout.split('\n').map((line) => line.split(/=(.*)/s, 2) as [string, string]));
    expect(stdout).not.toMatch(/sk-test|sk-usual/);
    expect([seen.has('FAKE_PROVIDER_API_KEY'), seen.has('ANTHROPIC_API_KEY')]).toEqual([false, false]);
    // The rule is about keys of providers: what else is in the environment is the user's to pass.
    expect([seen.get('DATABASE_URL'), seen.get('GH_TOKEN'), seen.get('LANG')]).toEqual([
      'pg://x',
      't',
      'C.UTF-8',
    ]);
    expect([seen.get('PATH'), seen.has('HOME')]).toEqual([process.env['PATH'], true]);
  });

  const linuxIt = process.platform === 'linux' ? it : it.skip;
  linuxIt('does not outlive an agentd that is killed, however silent it is [BASH-7]', async () => {
    const marker = `silent-${process.pid}-${Date.now()}`;
    const command = `echo begun; (exec -a ${marker} sleep 300) &>/dev/null & exec -a ${marker} sleep 300`;
    const model = await bench.script(`- { calls: [{ tool: bash, args: { command: "${command}" } }] }`);
    const agentd = bench.start(['run', 'go', '--output', 'json', '--mode', 'yolo', ...model]);
    await agentd.printed('"data":"begun');
    while (processesWith(marker).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    agentd.child.kill('SIGKILL');
    await agentd.ended;
    // A test of a process that lives on runs into Jest's limit.
    while (processesWith(marker).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
