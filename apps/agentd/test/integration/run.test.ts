import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonLines, payloads, summaryOf, Workbench } from './workbench.ts';

describe('agentd run', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await Workbench.create();
    await bench.write('ws/a.txt', 'alpha\n');
  });
  afterAll(async () => bench[Symbol.asyncDispose]());

  it('prints the final text alone, and exits 0 [CLI-3] [CLI-5]', async () => {
    const model = await bench.script(
      '- { say: Looking., calls: [{ tool: read, args: { filePath: a.txt } }] }\n- say: All done.',
    );
    expect(await bench.run(['run', 'go', ...model])).toEqual({ code: 0, stdout: 'All done.\n', stderr: '' });
  });

  it('prints nothing with --output none [CLI-5]', async () => {
    const model = await bench.script('- say: All done.');
    const outcome = await bench.run(['run', 'go', '--output', 'none', ...model]);
    expect(outcome).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each([
    ['the argument', ['P'], undefined],
    ['- and stdin', ['-'], 'P'],
    ['piped stdin', [], 'P'],
  ])('takes the prompt from %s [CLI-3]', async (_, args, input) => {
    const model = await bench.script('- say: "{{ input }}"');
    const outcome = await bench.run(['run', ...args, ...model], input === undefined ? {} : { input });
    expect(outcome).toMatchObject({ code: 0, stdout: 'P\n' });
  });

  it('takes the prompt from a file [CLI-3]', async () => {
    const model = await bench.script('- say: "{{ input }}"');
    const file = await bench.write('prompt.txt', 'From a file');
    expect(await bench.run(['run', '-f', file, ...model])).toMatchObject({
      code: 0,
      stdout: 'From a file\n',
    });
  });

  it('prints every event in order, live output, and the summary last [CLI-5] [EVT-1] [EVT-2]', async () => {
    const model = await bench.script(
      "- say: Looking.\n  calls:\n    - { tool: read, args: { filePath: a.txt } }\n    - { tool: bash, args: { command: \"printf 'é1'; sleep 0.2; printf 'é2'; printf e >&2\" } }\n  usage: { input_tokens: 10, output_tokens: 5 }\n- say: Done.\n  usage: { input_tokens: 20, output_tokens: 1 }",
    );
    const { code, lines, stderr } = await bench.runJson(['--mode', 'yolo', ...model]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

    const events = lines.flatMap(({ event }) => event ?? []);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const [first] = events;
    for (const event of events) {
      expect(Object.keys(event).toSorted()).toEqual([
        'engine_version',
        'payload',
        'run_id',
        'seq',
        'session_id',
        'timestamp',
      ]);
      expect(event.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(event.session_id).toBe(first?.session_id);
    }
    expect(first?.payload).toMatchObject({
      type: 'session_created',
      agent: 'default',
      cwd: bench.workspace,
      origin: null,
    });
    expect(first?.payload['handle']).toMatch(/^default_[0-9a-f]{8}$/);
    const started = payloads(lines, 'run_started')[0];
    expect(started).toMatchObject({
      trigger: 'user',
      agent: 'default',
      mode: 'yolo',
      tools: ['read', 'write', 'edit', 'bash', 'webfetch'],
    });
    expect(payloads(lines, 'user_input_submitted')[0]).toMatchObject({ text: 'go', kind: 'prompt' });
    expect(payloads(lines, 'tool_call_terminated').map(({ outcome }) => outcome)).toEqual([
      'completed',
      'completed',
    ]);
    expect(events.at(-1)?.payload).toEqual({ type: 'run_completed', final_text: 'Done.', turns: 2 });

    const live = lines.filter(({ type }) => type === 'tool_output');
    const stdout = live.filter(({ stream }) => stream === 'stdout');
    expect(stdout.map(({ data }) => data).join('')).toBe('é1é2');
    expect(stdout.at(-1)).toMatchObject({ offset: 3, data: 'é2' });
    expect(live.filter(({ stream }) => stream === 'stderr')).toMatchObject([{ offset: 0, data: 'e' }]);

    const logged = await bench.run(['sessions', 'events', first?.session_id ?? '']);
    expect(jsonLines(logged.stdout)).toEqual(events);
    expect(summaryOf(lines)).toEqual({
      type: 'summary',
      status: 'completed',
      reason: null,
      error: null,
      exit_code: 0,
      session_id: first?.session_id,
      run_id: events.at(-1)?.run_id,
      final_text: 'Done.',
      turns: 2,
      tool_calls: 2,
      denials: 0,
      usage: expect.objectContaining({ input_tokens: 30, output_tokens: 6, turns: 2 }),
      duration_ms: expect.any(Number),
    });
  });

  it.each([
    ['a failing model', '- { error: { kind: auth } }', [], 1, { status: 'failed' }],
    [
      'the turn limit',
      '- { calls: [{ tool: read, args: { filePath: a.txt } }] }\n- say: x',
      ['--max-turns', '1'],
      4,
      { status: 'cancelled', reason: 'turn_limit' },
    ],
    [
      'the time limit',
      '- { say: x, delay_ms: 60000 }',
      ['--timeout', '0.3'],
      4,
      { status: 'cancelled', reason: 'timeout' },
    ],
  ] as const)('exits by how the run ended: %s [CLI-3] [CLI-4]', async (...row) => {
    const [, turns, args, exitCode, expected] = row;
    const { code, lines } = await bench.runJson([...args, ...(await bench.script(turns))]);
    expect(code).toBe(exitCode);
    expect(summaryOf(lines)).toMatchObject({ type: 'summary', exit_code: exitCode, ...expected });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'a first %s cancels, and the end is on disk [CLI-3]',
    async (signal) => {
      const model = await bench.script(
        '- { calls: [{ tool: bash, args: { command: "echo begun; sleep 60" } }] }',
      );
      const { child, ended, printed } = bench.start([
        'run',
        'go',
        '--output',
        'json',
        '--mode',
        'yolo',
        ...model,
      ]);
      await printed('"data":"begun');
      child.kill(signal);
      const { code, stdout } = await ended;
      const lines = jsonLines(stdout);
      expect(code).toBe(4);
      expect(summaryOf(lines)).toMatchObject({ status: 'cancelled', reason: 'signal', exit_code: 4 });
      expect(payloads(lines, 'tool_call_terminated')).toMatchObject([{ outcome: 'cancelled' }]);
      const { stdout: logged } = await bench.run([
        'sessions',
        'events',
        String(summaryOf(lines)['session_id']),
      ]);
      expect(jsonLines(logged).at(-1)).toMatchObject({
        payload: { type: 'run_cancelled', reason: 'signal' },
      });
    },
  );

  it('a second signal leaves at once [CLI-3]', async () => {
    const command = "trap '' TERM; echo begun; sleep 60";
    const model = await bench.script(
      `- { calls: [{ tool: bash, args: { command: ${JSON.stringify(command)} } }] }`,
    );
    const { child, ended, printed } = bench.start([
      'run',
      'go',
      '--output',
      'json',
      '--mode',
      'yolo',
      ...model,
    ]);
    await printed('"data":"begun');
    // Two signals at once can arrive as one, so there is always another.
    const signals = setInterval(() => child.kill('SIGINT'), 50);
    const { code, stdout } = await ended.finally(() => clearInterval(signals));
    expect(code).toBe(4);
    // The first signal waits two seconds for such a command, and tells the end of the run.
    expect(payloads(jsonLines(stdout), 'run_cancelled')).toEqual([]);
  });

  it('ends quietly when nobody reads stdout any more [CLI-5]', async () => {
    const model = await bench.script(
      '- { calls: [{ tool: bash, args: { command: "echo begun; for i in $(seq 100); do echo $i; sleep 0.1; done" } }] }',
    );
    const { child, ended, printed } = bench.start([
      'run',
      'go',
      '--output',
      'json',
      '--mode',
      'yolo',
      ...model,
    ]);
    await printed('"data":"begun');
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 4, stderr: '' });
  });

  it('denies an ask at once with the rule named, goes on, and counts it [PERM-6] [field J10]', async () => {
    const model = await bench.script(
      '- calls:\n    - { tool: bash, args: { command: "touch HIT" }, as: shell }\n    - { tool: read, args: { filePath: "/etc/passwd" }, as: outside }\n    - { tool: write, args: { filePath: b.txt, content: b } }\n- say: "{{ shell.text }} | {{ outside.text }}"',
    );
    const { code, lines } = await bench.runJson(['--fail-on-denial', ...model]);
    expect(code).toBe(3);
    expect(summaryOf(lines)).toMatchObject({ status: 'completed', denials: 3, exit_code: 3 });
    const text = String(summaryOf(lines)['final_text']);
    expect(text).toContain('error: permission_denied: ');
    expect(text).toContain('"bash: * = ask"');
    expect(text).toContain('"read: /* = ask"');
    expect(payloads(lines, 'tool_call_terminated')).toContainEqual(
      expect.objectContaining({
        outcome: 'failed',
        result: expect.objectContaining({
          metadata: expect.objectContaining({
            denial: expect.objectContaining({ kind: 'tool_denied', rule: 'bash: * = ask' }),
          }),
        }),
      }),
    );
    await expect(readFile(join(bench.workspace, 'HIT'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('exits 0 when something was denied, unless told otherwise [CLI-3]', async () => {
    const model = await bench.script('- { calls: [{ tool: bash, args: { command: ls } }] }\n- say: on');
    expect(await bench.run(['run', 'go', ...model])).toEqual({
      code: 0,
      stdout: 'on\n',
      stderr:
        'agentd: 1 call was denied: nobody could be asked (--allow bash, or --mode yolo, answers beforehand)\n',
    });
  });

  it('lets --mode yolo approve asks [PERM-6]', async () => {
    const model = await bench.script(
      '- { calls: [{ tool: write, args: { filePath: yolo.txt, content: y } }] }\n- say: ok',
    );
    const { code, lines } = await bench.runJson(['--mode', 'yolo', '--fail-on-denial', ...model]);
    expect(code).toBe(0);
    expect(payloads(lines, 'approval_finalized')).toMatchObject([{ decision: 'once', source: 'mode' }]);
    expect(await readFile(join(bench.workspace, 'yolo.txt'), 'utf8')).toBe('y');
  });

  it('lets --allow and --deny decide before the document [CLI-4] [PERM-10]', async () => {
    const model = await bench.script(
      '- calls:\n    - { tool: write, args: { filePath: out/allowed.txt, content: y } }\n    - { tool: read, args: { filePath: a.txt } }\n- say: ok',
    );
    const rules = ['--allow', 'write:out/*', '--deny', 'read:a.txt'];
    const { lines } = await bench.runJson([...rules, ...model]);
    const ends = payloads(lines, 'tool_call_terminated').map(({ outcome }) => outcome);
    expect(new Set(ends)).toEqual(new Set(['completed', 'failed']));
    expect(payloads(lines, 'permission_overlay_set')).toMatchObject([
      {
        rules: [
          { action: 'write', pattern: 'out/*', effect: 'allow' },
          { action: 'read', pattern: 'a.txt', effect: 'deny' },
        ],
      },
    ]);
  });

  it.each([
    '.env',
    'deep/.env.local',
    'key.pem',
    'id_ed25519',
    'x/.netrc',
    '.npmrc',
    'conf/credentials.json',
    '/etc/hostname',
  ])('asks before it reads %s, by the built-in agent [PERM-5]', async (path) => {
    if (!path.startsWith('/')) await bench.write(`ws/${path}`, 'SECRET');
    const { code, stdout } = await bench.run([
      'tools',
      'call',
      'read',
      JSON.stringify({ filePath: path }),
      '--json',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'permission_denied' }, text: '' });
    expect(stdout).not.toContain('SECRET');
  });
});

describe('agentd run --session', () => {
  let bench: Workbench;
  beforeAll(async () => (bench = await Workbench.create()));
  afterAll(async () => bench[Symbol.asyncDispose]());

  it('goes on in its own directory, by its own history, and refuses another one [CLI-3]', async () => {
    const model = await bench.script(
      '- say: first\n- { calls: [{ tool: bash, args: { command: pwd }, as: here }] }\n- say: "{{ here.text }}"',
    );
    const first = await bench.runJson(model);
    const id = String(summaryOf(first.lines)['session_id']);
    const elsewhere = { cwd: '/' };
    const second = await bench.runJson(['--session', id, '--allow', 'bash', ...model], elsewhere);
    expect(summaryOf(second.lines)).toMatchObject({ session_id: id, status: 'completed' });
    expect(String(summaryOf(second.lines)['final_text'])).toContain(bench.workspace);
    const refused = await bench.run(['run', 'go', '--session', id, '--cwd', '/', ...model]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`works in ${bench.workspace}; --cwd / is another directory`);
    const same = await bench.run(
      ['run', 'go', '--session', id, '--cwd', bench.workspace, ...model],
      elsewhere,
    );
    expect(same.code).toBe(0);
  });

  it('refuses a session that another process has, naming it, and takes it over after a kill [field J6]', async () => {
    const model = await bench.script(
      '- { calls: [{ tool: bash, args: { command: "echo begun; sleep 60" } }] }\n- say: again',
    );
    const first = bench.start(['run', 'go', '--output', 'json', '--mode', 'yolo', ...model]);
    await first.printed('"data":"begun');
    const { stdout } = await bench.run(['sessions', 'list', '--json']);
    const [{ session_id: id } = { session_id: '' }] = (
      JSON.parse(stdout) as { session_id: string; status: string }[]
    ).filter(({ status }) => status === 'running');

    const second = await bench.run(['run', 'go on', '--session', id, '--output', 'json', ...model]);
    expect(second).toMatchObject({ code: 5, stdout: '' });
    expect(second.stderr).toContain(String(first.child.pid));
    expect(second.stderr).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d/);
    expect((await bench.run(['sessions', 'show', id])).code).toBe(0);

    first.child.kill('SIGKILL');
    await first.ended;
    const third = await bench.runJson(['--session', id, ...model]);
    expect(third.code).toBe(0);
    expect(summaryOf(third.lines)).toMatchObject({ status: 'completed', final_text: 'again' });
    expect(payloads(third.lines, 'run_interrupted')).toHaveLength(1);
  });
});
