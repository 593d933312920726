import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jsonLines, summaryOf, Workbench } from './workbench.ts';

interface Row {
  readonly session_id: string;
  readonly status: string;
  readonly title: string | null;
  readonly damaged: string | null;
}

let bench: Workbench;
let model: readonly string[] = [];
beforeEach(async () => {
  bench = await Workbench.create();
  model = await bench.script('- say: one\n- say: two\n- say: three');
});
afterEach(async () => bench[Symbol.asyncDispose]());

async function newSession(): Promise<string> {
  const { lines } = await bench.runJson(model);
  return String(summaryOf(lines)['session_id']);
}

async function logOf(id: string): Promise<string> {
  const projects = join(bench.home, 'projects');
  const [project = ''] = await readdir(projects);
  return join(projects, project, 'sessions', id, 'events.jsonl');
}

describe('agentd sessions', () => {
  it('are kept in a readable project folder, by id [CFG-1]', async () => {
    const id = await newSession();
    expect(await readdir(join(bench.home, 'projects'))).toEqual([expect.stringMatching(/^ws-[0-9a-f]{12}$/)]);
    expect(jsonLines(await readFile(await logOf(id), 'utf8'))[0]).toMatchObject({ seq: 1, session_id: id });
  });

  it('list shows those of all projects, or of one directory [CLI-1]', async () => {
    await newSession();
    await bench.write('other/x', '');
    const other = join(bench.workspace, '../other');
    await bench.run(['run', 'A title\nand more', ...model], { cwd: other });
    const rows = JSON.parse(
      (await bench.run(['sessions', 'list', '--json', '--cwd', other])).stdout,
    ) as Row[];
    expect(rows).toMatchObject([{ status: 'completed', title: 'A title', damaged: null }]);
    const all = JSON.parse((await bench.run(['sessions', 'list', '--json'])).stdout) as Row[];
    expect(all.length).toBeGreaterThan(1);
    expect(all[0]?.session_id).toBe(rows[0]?.session_id);
    expect((await bench.run(['sessions', 'list'])).stdout).toContain('A title');
  });

  it('show tells header, runs, usage and what is odd about the log [CLI-1] [SES-10]', async () => {
    const id = await newSession();
    await bench.runJson(['--session', id, ...model]);
    await appendFile(await logOf(id), '{oops\n');
    const { code, stdout } = await bench.run(['sessions', 'show', id, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      session_id: id,
      agent: 'default',
      cwd: bench.workspace,
      status: 'idle',
      runs: [
        { status: 'completed', turns: 1, tool_calls: 0 },
        { status: 'completed', turns: 1 },
      ],
      usage: { turns: 2 },
      diagnostics: [{ kind: 'malformed_line' }],
    });
    const text = await bench.run(['sessions', 'show', id]);
    expect(text.stdout.match(/^run [0-9a-f-]{36} .* completed /gm)).toHaveLength(2);
  });

  it('call a run interrupted whose process is gone, and running while it works', async () => {
    const slow = await bench.script(
      '- { calls: [{ tool: bash, args: { command: echo on; sleep 300 } }] }',
      'slow.yaml',
    );
    const run = bench.start(['run', 'go', '--output', 'json', '--allow', 'bash', ...slow]);
    await run.printed('"data":"on');
    const newest = async (): Promise<{ session_id: string; status: string } | undefined> =>
      (JSON.parse((await bench.run(['sessions', 'list', '--json'])).stdout) as never[])[0];
    expect(await newest()).toMatchObject({ status: 'running' });
    run.child.kill('SIGKILL');
    await run.ended;
    const session = await newest();
    expect(session).toMatchObject({ status: 'interrupted' });
    const { stdout } = await bench.run(['sessions', 'show', session?.session_id ?? '', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'interrupted', runs: [{ status: 'interrupted' }] });
  });

  it('events --follow prints what is there and what comes, and needs no lock [CLI-1] [SES-4]', async () => {
    const id = await newSession();
    const follower = bench.start(['sessions', 'events', id, '--follow']);
    await follower.printed('"run_completed"');
    await bench.runJson(['--session', id, ...model]);
    await follower.printed('"final_text":"two"');
    follower.child.kill('SIGINT');
    const { code, stdout, stderr } = await follower.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(await readFile(await logOf(id), 'utf8'));
  });
});

describe('damaged sessions', () => {
  it.each<[string, (log: string) => Promise<void>]>([
    ['0 bytes', async (log) => writeFile(log, '')],
    ['one newline', async (log) => writeFile(log, '\n')],
    ['NUL bytes', async (log) => writeFile(log, Buffer.alloc(500))],
    [
      'a directory in its place',
      async (log) => {
        await rm(log);
        await mkdir(log);
      },
    ],
  ])('with %s are listed as damaged, and no other session minds [field J4]', async (_, damage) => {
    const [bad, good] = [await newSession(), await newSession()];
    await damage(await logOf(bad));
    const rows = JSON.parse((await bench.run(['sessions', 'list', '--json'])).stdout) as Row[];
    const byId = new Map(rows.map((row) => [row.session_id, row]));
    expect(byId.get(bad)).toMatchObject({ status: 'damaged', damaged: expect.any(String) });
    expect(byId.get(good)).toMatchObject({ status: 'completed', damaged: null });

    for (const args of [
      ['run', 'go', '--session', bad, ...model],
      ['sessions', 'show', bad],
    ]) {
      const refused = await bench.run(args);
      expect(refused).toMatchObject({ code: 5, stdout: '' });
      expect(refused.stderr).toMatch(/^agentd: [^\n]+\n$/);
    }
    expect(await bench.run(['run', 'go', '--session', good, ...model])).toMatchObject({
      code: 0,
      stdout: 'two\n',
    });
  });

  it('with a header alone are sound and go on [field J4]', async () => {
    const id = await newSession();
    const log = await logOf(id);
    const [header = ''] = (await readFile(log, 'utf8')).split('\n');
    await writeFile(log, `${header}\n`);
    expect(await bench.run(['run', 'go', '--session', id, ...model])).toMatchObject({
      code: 0,
      stdout: 'one\n',
    });
  });
});
