import { mkdir, rename, rmdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { createBashTool } from './bash-tool.ts';
import { bashTool, executeBash, prepareBash, runBash, withFolder } from './testing/bash-harness.ts';

describe('the declaration of bash', () => {
  it('is parallel and has the terminal streams stdout and stderr [SCH-2] [BASH-4] [BASH-8]', () => {
    expect(bashTool.spec).toMatchObject({
      name: 'bash',
      action: 'bash',
      concurrency: 'parallel',
      truncation: 'bounded',
      origin: 'builtin',
      output: { kind: 'named', streams: ['stdout', 'stderr'], terminal: true },
    });
  });

  it('takes a command, a timeout and an interactive flag, and nothing else [BASH-1] [ARG-2]', async () => {
    expect(bashTool.spec.parameters).toMatchObject({
      type: 'object',
      required: ['command'],
      additionalProperties: false,
      properties: {
        command: { type: 'string' },
        timeout: { type: 'integer', minimum: 1, default: 120_000 },
        interactive: { type: 'boolean', default: false },
      },
    });
    await expect(prepareBash({ command: 'true', cwd: '/' })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('"cwd"'),
    });
    await expect(prepareBash({})).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('tells the model what it cannot guess', () => {
    for (const fact of ['working directory', 'do not carry over', 'end-of-file', 'setsid', 'read tool']) {
      expect(bashTool.spec.description).toContain(fact);
    }
  });
});

describe('preparing a command', () => {
  it.each([0, -5, Number.NaN, '5', 1.5, null, true])(
    'refuses the timeout %p and names the range [BASH-2] [field D6]',
    async (timeout) => {
      await expect(prepareBash({ command: 'true', timeout })).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining('"timeout": expected integer of at least 1, got '),
      });
    },
  );

  it.each([1e12, 2_147_483_648, Number.MAX_SAFE_INTEGER])(
    'does not fire a timeout of %d at once [BASH-2] [field D6]',
    async (timeout) => {
      const { closingLine, stdout } = await runBash('sleep 0.1; echo done', { timeout });
      expect({ closingLine, stdout }).toEqual({ closingLine: 'exit code: 0', stdout: 'done\n' });
    },
  );

  it.each(['', ' \n\t', 'echo \0', 'echo \uD800'])('refuses the command %j [BASH-1]', async (command) => {
    await expect(prepareBash({ command })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('"command"'),
    });
  });

  it('asks for the action bash on the command as written [PERM-10]', async () => {
    const command = '  git status; rm -rf x # as is\n';
    expect((await prepareBash({ command })).permission).toEqual({ action: 'bash', label: command });
  });

  it('binds an approval to normalized arguments and to the folder [PERM-7]', async () => {
    await withFolder(async (cwd) => {
      const [plain, spelled, other] = await Promise.all([
        prepareBash({ command: 'true' }, { cwd }),
        prepareBash({ command: 'true', timeout: 120_000, interactive: false }, { cwd }),
        prepareBash({ command: 'true' }),
      ]);
      expect(plain.operation).toEqual(spelled.operation);
      expect(plain.operation).not.toEqual(other.operation);
      expect(JSON.parse(JSON.stringify(plain.operation))).toEqual(plain.operation);
    });
  });

  it('is not supported where PATH has no bash, and says so [BASH-2]', async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, 'bash'), 'not executable');
      const tool = createBashTool({ environment: { PATH: `${folder}:.` }, withheld: [], clock: systemClock });
      await expect(prepareBash({ command: 'true' }, { tool })).rejects.toMatchObject({
        code: 'not_supported',
        message: expect.stringContaining('no bash on its PATH'),
      });
    });
  });

  it('never takes a bash from a relative entry of PATH [BASH-2]', async () => {
    const environment = { PATH: `.:bin:${process.env['PATH']}` };
    const tool = createBashTool({ environment, withheld: [], clock: systemClock });
    const { operation } = await prepareBash({ command: 'true' }, { tool });
    expect(operation).toMatchObject({ shell: expect.stringMatching(/^\/.*\/bash$/) });
  });
});

describe('the working directory', () => {
  it('is where every call starts; a cd does not carry over [BASH-2] [field C8]', async () => {
    await withFolder(async (cwd) => {
      const first = await runBash('mkdir d && cd d && pwd', { cwd });
      const second = await runBash('pwd', { cwd });
      expect([first.stdout, second.stdout]).toEqual([`${cwd}/d\n`, `${cwd}\n`]);
    });
  });

  it('fails each call and names the folder once it is gone [field C8]', async () => {
    await withFolder(async (parent) => {
      const cwd = join(parent, 'd');
      await mkdir(cwd);
      const prepared = await prepareBash({ command: 'echo alive' }, { cwd });
      await runBash('rm -rf ../d', { cwd });
      const gone = { code: 'not_found', message: expect.stringContaining(cwd) };
      await expect(prepareBash({ command: 'echo alive' }, { cwd })).rejects.toMatchObject(gone);
      await expect(prepareBash({ command: 'cd / && echo alive' }, { cwd })).rejects.toMatchObject(gone);
      await expect(prepared.revalidate?.(new AbortController().signal)).rejects.toMatchObject(gone);
      await expect(executeBash(prepared)).rejects.toMatchObject(gone);
    });
  });

  it('is stale when another folder took its place after the approval [PERM-7]', async () => {
    await withFolder(async (parent) => {
      const cwd = join(parent, 'd');
      await mkdir(join(parent, 'real'));
      await symlink('real', cwd);
      const prepared = await prepareBash({ command: 'true' }, { cwd });
      await prepared.revalidate?.(new AbortController().signal);
      await rename(join(parent, 'real'), join(parent, 'old'));
      await mkdir(join(parent, 'real'));
      await expect(prepared.revalidate?.(new AbortController().signal)).rejects.toMatchObject({
        code: 'stale',
        message: expect.stringContaining(cwd),
      });
      await rmdir(join(parent, 'real'));
      await writeFile(join(parent, 'real'), '');
      await expect(prepared.revalidate?.(new AbortController().signal)).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('not a directory'),
      });
    });
  });
});

describe('the environment of a command', () => {
  it('is that of the daemon without the withheld names [BASH-2] [field C14]', async () => {
    const environment = {
      PATH: process.env['PATH'],
      HOME: '/home/someone',
      LANG: 'C.UTF-8',
      FAKE_PROVIDER_API_KEY: 'sk-test',
      DATABASE_URL: 'pg://x',
      GH_TOKEN: 't',
    };
    const withheld = ['FAKE_PROVIDER_API_KEY', 'ABSENT_KEY'];
    const tool = createBashTool({ environment, withheld, clock: systemClock });
    const { stdout } = await runBash('env; cat /proc/$$/environ', { tool });
    expect(stdout).not.toContain('sk-test');
    for (const kept of ['HOME=/home/someone', 'LANG=C.UTF-8', 'DATABASE_URL=pg://x', 'GH_TOKEN=t', 'PATH=']) {
      expect(stdout).toContain(kept);
    }
  });

  it('is read when the command runs, so that it follows the daemon [BASH-2]', async () => {
    const environment: NodeJS.ProcessEnv = { PATH: process.env['PATH'], NOTE: 'before' };
    const tool = createBashTool({ environment, withheld: [], clock: systemClock });
    const call = await prepareBash({ command: 'echo $NOTE' }, { tool });
    environment['NOTE'] = 'after';
    expect((await executeBash(call)).stdout).toBe('after\n');
  });

  it('runs no login shell, and no command is an option of bash [BASH-2]', async () => {
    const shell = await runBash('shopt -q login_shell || echo no login; echo $0');
    expect(shell.stdout).toBe('no login\nbash\n');
    const { metadata, stderr } = await runBash('--version');
    expect(metadata).toMatchObject({ exit_code: 127 });
    expect(stderr).toContain('--version: command not found');
  });

  it('says how to go on when the command is too long for the system [ARG-3]', async () => {
    await expect(runBash(`: ${'x'.repeat(3_000_000)}`)).rejects.toMatchObject({
      code: 'resource_limit',
      message: expect.stringContaining('write the command to a file'),
    });
  });
});
