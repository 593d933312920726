import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { processesWith } from './processes.ts';
import { commandOf, payloads, surroundingsOf, Workbench } from './workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.create();
});
afterAll(async () => bench[Symbol.asyncDispose]());

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

  const privileged = process.getuid?.() === 0;
  const closedIt = process.platform === 'linux' ? it : it.skip;
  closedIt('cannot read the keys from the process that runs it [BASH-2] [field C14]', async () => {
    const env = { ...surroundingsOf(bench).env, ANTHROPIC_API_KEY: 'sk-usual' };
    const command = 'cat /proc/$PPID/environ /proc/$PPID/mem | head -c 1000; echo; id -u';
    const agentd = commandOf(['tools', 'call', 'bash', JSON.stringify({ command }), '--mode', 'yolo']);
    // Root reads everything, but not without its privileges.
    const under = privileged ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
    const [file = '', ...args] = [...under, ...agentd];
    const { stdout } = await promisify(execFile)(file, args, { cwd: bench.workspace, env });
    expect(stdout).toContain(`[stdout]\n\n${process.getuid?.()}\n`);
    expect(stdout).toMatch(/environ: Permission denied/);
    expect(stdout).not.toContain('sk-usual');
  });

  it('may print far more than is kept: start, end and exit code are told, in bounded memory [field C7] [BASH-9] [OUT-21]', async () => {
    await bench.write('home/config.toml', '[tool_output]\nmax_capture_bytes = 1048576\n');
    const command = 'yes | head -c 200000000; echo tail-mark; grep VmHWM /proc/$PPID/status';
    const args = ['tools', 'call', 'bash', JSON.stringify({ command }), '--mode', 'yolo'];
    const { code, stdout } = await bench.run(args);
    await bench.write('home/config.toml', '');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\[stdout\]\ny\ny\n[^]*lines omitted[^]*\ny\ntail-mark\n/);
    expect(stdout).toMatch(/bytes beyond the capture limit of 1048576 bytes were not stored/);
    expect(stdout).toContain('exit code: 0');
    if (process.platform === 'linux') {
      const peakKib = Number(/VmHWM:\s+(\d+) kB/.exec(stdout)?.[1]);
      expect(peakKib).toBeGreaterThan(0);
      expect(peakKib).toBeLessThan(300 * 1024);
    }
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

describe('edits of one model turn', () => {
  it('all land, whatever their order and number [FS-15] [SCH-4] [field B13]', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `${index + 1}\n`);
    await bench.write('ws/r.txt', lines.join(''));
    const edited = [75, 50, 3, 100, 52, 20];
    const calls = edited.map((n) => {
      const args = { filePath: 'r.txt', oldString: `\n${n}\n`, newString: `\nN${n}\n` };
      return `{ tool: edit, args: ${JSON.stringify(args)} }`;
    });
    const model = await bench.script(`- { calls: [${calls.join(', ')}] }\n- say: done`);
    const { code, lines: events } = await bench.runJson(['--mode', 'yolo', ...model]);
    expect(code).toBe(0);
    const outcomes = payloads(events, 'tool_call_terminated').map(({ outcome }) => outcome);
    expect(outcomes).toEqual(edited.map(() => 'completed'));
    const expected = lines.map((line, index) => (edited.includes(index + 1) ? `N${line}` : line));
    expect(await readFile(join(bench.workspace, 'r.txt'), 'utf8')).toBe(expected.join(''));
  });
});

describe('webfetch through agentd', () => {
  it('needs a rule, is asked for by the whole address, and its result is paged [WEB-3] [WEB-14]', async () => {
    const body = Array.from({ length: 5000 }, (_, index) => `row ${index + 1}\n`).join('');
    const asked: (string | undefined)[] = [];
    const server = createServer(({ url }, response) => {
      asked.push(url);
      response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?q=1`;
      const call = ['tools', 'call', 'webfetch', JSON.stringify({ url })];
      const agent = (rules: string) =>
        bench.write('home/agents/a.md', `---\ndescription: a\npermissions:\n${rules}---\n`);

      await agent('  read: allow\n');
      expect((await bench.run([...call, '--agent', 'a'])).stdout).toContain('not_published');
      await agent(
        `  read: { "artifact://*": allow }\n  webfetch: { "${url.replace('q=1', 'q=2')}": allow }\n`,
      );
      expect((await bench.run([...call, '--agent', 'a'])).stdout).toContain('permission_denied');
      expect(asked).toEqual([]);

      await agent(`  read: { "artifact://*": allow }\n  webfetch: { "${url}": allow }\n`);
      const { stdout } = await bench.run([...call, '--agent', 'a']);
      expect(stdout).toContain(`final_url: ${url}\n`);
      expect(asked).toEqual(['/a?q=1']);
      const filePath = /filePath="(artifact:[^"]+)"/.exec(stdout)?.[1];
      const read = [
        'tools',
        'call',
        'read',
        JSON.stringify({ filePath, offset: 5, limit: 2 }),
        '--agent',
        'a',
      ];
      expect((await bench.run(read)).stdout).toBe('row 1\nrow 2\n[next_offset: 7]\n');
    } finally {
      server.close();
    }
  });
});
