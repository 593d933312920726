import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Workbench } from './workbench.ts';

const COMMANDS = [
  [],
  ['run'],
  ['tools'],
  ['sessions'],
  ['artifacts'],
  ['agents'],
  ['models'],
  ['mcp'],
  ['tools', 'list'],
  ['tools', 'call'],
  ['sessions', 'list'],
  ['sessions', 'show'],
  ['sessions', 'events'],
  ['artifacts', 'show'],
  ['artifacts', 'gc'],
  ['agents', 'list'],
  ['agents', 'show'],
  ['models', 'list'],
  ['doctor'],
  ['demo'],
] as const;

describe('the command line', () => {
  let bench: Workbench;
  beforeAll(async () => (bench = await Workbench.create()));
  afterAll(async () => bench[Symbol.asyncDispose]());

  it('prints its version and nothing else [CLI-1]', async () => {
    expect(await bench.run(['--version'])).toEqual({ code: 0, stdout: '0.0.0\n', stderr: '' });
  });

  it.each(COMMANDS.map((command) => [command.join(' ') || 'agentd', command] as const))(
    '%s explains itself with an example [CLI-1]',
    async (_, command) => {
      const { code, stdout, stderr } = await bench.run([...command, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: agentd /);
      expect(stdout).toMatch(/\nExamples?:\n {2}\$ .*agentd /);
    },
  );

  it('tells how it is used when nothing is asked of it [CLI-3]', async () => {
    const { code, stdout, stderr } = await bench.run([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: agentd');
  });

  it('writes no control sequences into a pipe, colours asked for or not [CLI-2]', async () => {
    const env = { TERM: 'xterm-256color', FORCE_COLOR: '3' };
    for (const args of [['doctor'], ['tools', 'list'], ['rum'], ['run', '--help']]) {
      const { stdout, stderr } = await bench.run(args, { env });
      expect(`${stdout}${stderr}`).not.toContain('\u001B');
    }
  });

  it('fails when its output cannot be written [CLI-1]', async () => {
    const call = bench.start(['agents', 'show', 'default'], { stdout: '/dev/full' });
    const { code, stderr } = await call.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^agentd: cannot write to stdout: ENOSPC[^\n]*\n$/);
  });

  it('plays the demo to its end, in plain text [CLI-2]', async () => {
    const { code, stdout, stderr } = await bench.run(['demo'], { env: { TMPDIR: bench.workspace } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\u001B');
    expect(stdout).toMatch(
      /completed in .*: 1[0-3] turns, 13 calls, 1 denied, [\d,]+ bytes of output stored/,
    );
    const [, home = '', id = ''] = /AGENTD_HOME=(\S+) .* sessions show (\S+)/.exec(stdout) ?? [];
    const shown = await bench.run(['sessions', 'show', id], { env: { AGENTD_HOME: home } });
    expect(shown.stdout).toContain('agentd demo');
  });
});
