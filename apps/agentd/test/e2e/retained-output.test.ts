import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runAgentd, type Ended } from './agentd-process.ts';

const run = promisify(execFile);

interface Report {
  readonly outcome: string;
  readonly text: string;
  readonly metadata: { readonly exit_code?: number; readonly next_offset?: number | null };
}

describe('retained output through the real binary', () => {
  let folder: string;
  let home: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentd-retained-'));
    home = join(folder, 'home');
    await mkdir(join(folder, 'work'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const agentd = (...args: readonly string[]): Promise<Ended> =>
    runAgentd(args, { home, cwd: join(folder, 'work') });
  const call = async (tool: string, args: object, ...flags: readonly string[]): Promise<Report> =>
    JSON.parse(
      (await agentd('tools', 'call', tool, JSON.stringify(args), '--json', ...flags)).stdout,
    ) as Report;
  const hintIn = (text: string) => {
    const [, filePath = '', offset] = /read\(filePath="([^"]+)", offset=(\d+)\)/.exec(text) ?? [];
    return { filePath, offset: Number(offset) };
  };

  it('is read back page by page from the hint on, so that nobody runs the command again [field E9] [ART-4] [OUT-5]', async () => {
    const script = 'echo ran >> counter; seq -f "line %.0f of many" 1 9000';
    const { text } = await call('bash', { command: script }, '--mode', 'yolo');
    const { filePath, offset: first } = hintIn(text);
    const pages: string[] = [];
    for (let offset: number | null = first; offset !== null;) {
      const page = await call('read', { filePath, offset });
      pages.push(page.text);
      offset = page.metadata.next_offset ?? null;
    }
    const lines = Array.from({ length: 9000 }, (_, index) => `line ${index + 1} of many\n`);
    expect(text).toContain(`[stdout]\n${lines.slice(0, first).join('')}`);
    expect(pages.join('')).toBe(lines.slice(first).join(''));
    expect(await readFile(join(folder, 'work', 'counter'), 'utf8')).toBe('ran\n');
  });

  it('of a terminal program is shown without its control sequences and stored with them [field C17] [BASH-8]', async () => {
    const command = String.raw`printf 'aaaa\rbb\033[K\n\033[2J\033[?25l\033]0;pwn\007end\n'`;
    const { text } = await call('bash', { command }, '--mode', 'yolo');
    expect(text).toContain('[stdout]\nbb\nend\n');
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0008\u000B-\u001F]/);
    const { stdout } = await agentd('sessions', 'list', '--json');
    const [{ session_id: id }] = JSON.parse(stdout) as [{ session_id: string }];
    const log = await agentd('sessions', 'events', id);
    const uri = /artifact:\/\/sha256\/([0-9a-f]{64})","incomplete"/.exec(
      log.stdout.replaceAll('"},', '",'),
    )?.[1];
    const stored = await agentd('artifacts', 'show', `artifact://${uri}/stdout`);
    expect(stored.stdout).toBe('aaaa\rbb\u001B[K\n\u001B[2J\u001B[?25l\u001B]0;pwn\u0007end\n');
  });

  it('is readable under a rule for artifacts where files ask, without a question about paths [field E5] [ART-8]', async () => {
    await mkdir(join(home, 'agents'), { recursive: true });
    await writeFile(
      join(home, 'agents', 'careful.md'),
      '---\ndescription: asks about files\nmode: primary\npermissions:\n  bash: allow\n  read:\n    "*": ask\n    "artifact://*": allow\n---\nWork.\n',
    );
    const { text } = await call('bash', { command: 'seq 1 5000' });
    expect(await call('read', hintIn(text))).toMatchObject({
      outcome: 'completed',
      metadata: { next_offset: 3000 },
    });
    expect(await call('read', { filePath: '.' })).toMatchObject({
      outcome: 'failed',
      error: { code: 'permission_denied' },
    });
  });

  it('does not stop the commands when the disk is full, and is stored again when there is room [field E7] [OUT-13]', async () => {
    // A file system of its own that is far too small, in a namespace of its own; where that is not allowed, a limit on
    // the size of files stands in for it.
    const agent = `"${process.execPath}" --conditions=@agentd/source "${join(import.meta.dirname, '../../src/main.ts')}"`;
    const bash = (command: string): string =>
      `${agent} tools call bash '${JSON.stringify({ command })}' --json --mode yolo`;
    const big = bash('seq 1 1000000; exit 3');
    const small = bash('df -h . | head -1');
    const full = `mkdir -p "$AGENTD_HOME" && mount -t tmpfs -o size=1m none "$AGENTD_HOME" && ${big}; ${small}`;
    const env = { ...process.env, AGENTD_HOME: home };
    const cwd = join(folder, 'work');
    const isolated = await run('unshare', ['-rm', 'true']).then(
      () => true,
      () => false,
    );
    const { stdout } = isolated
      ? await run('unshare', ['-rm', 'bash', '-c', full], { env, cwd }).catch(
          (error: { stdout: string }) => error,
        )
      : await run('bash', ['-c', `(ulimit -f 1024; ${big}); ${small}`], { env, cwd }).catch(
          (error: { stdout: string }) => error,
        );
    const [first, second] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Report);
    expect(first).toMatchObject({ outcome: 'completed', metadata: { exit_code: 3 } });
    expect(first?.text).toContain('full output not stored: ');
    expect(first?.text).toContain('[stdout]\n1\n2\n3\n');
    expect(first?.text).toContain('1000000\n');
    expect(first?.text).not.toContain('artifact://');
    expect(second).toMatchObject({ outcome: 'completed', retained_output: { incomplete: false } });
  });
});
