import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jsonLines, payloads, summaryOf, Workbench, type OutputLine } from './workbench.ts';

const AGENT = (mode: string): string =>
  `---\ndescription: Helps.\nmode: ${mode}\npermissions: { bash: allow, delegate: allow, message: allow }\n---\nYou help.\n`;

const WAIT = 'while [ ! -e over ]; do sleep 0.05; done';

/** A root that starts one subagent in the background and ends at once. */
const STARTS_ONE = `
- calls: [{ tool: delegate_subagent, args: { description: d, prompt: p, agent_type: helper, background: true } }]
  usage: { input_tokens: 10, output_tokens: 1 }
- say: Started.
  usage: { input_tokens: 10, output_tokens: 1 }
- say: "Heard: {{ input }}"
  usage: { input_tokens: 10, output_tokens: 1 }
`;

describe('run, with subagents', () => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await Workbench.create();
    await bench.write('home/agents/default.md', AGENT('primary'));
    await bench.write('home/agents/helper.md', AGENT('subagent'));
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  async function script(root: string, helper: string): Promise<readonly string[]> {
    const indented = (turns: string): string => turns.trim().replaceAll(/^/gm, '    ');
    const text = `agents:\n  default:\n${indented(root)}\n  helper:\n${indented(helper)}\n`;
    return ['-m', `scripted:${await bench.write('script.yaml', text)}`];
  }

  /** Lets the subagent go on once the root's first run is over. */
  async function playAfterRoot(
    args: readonly string[],
  ): Promise<{ code: number | null; lines: readonly OutputLine[] }> {
    const started = bench.start(['run', 'go', '--output', 'json', ...args]);
    await started.printed('"run_completed"');
    await bench.write('ws/over', '');
    const { code, stdout } = await started.ended;
    return { code, lines: jsonLines(stdout) };
  }

  const pidsGone = async (): Promise<boolean> => {
    const pids = (await readFile(join(bench.workspace, 'pids'), 'utf8')).trim().split('\n').map(Number);
    return pids.length > 0 && pids.every((pid) => !isAlive(pid));
  };

  it('ends when the tree is quiet, shows every session, and sums the usage of all [CLI-4] [CLI-5] [SES-10]', async () => {
    const model = await script(
      STARTS_ONE,
      `- calls: [{ tool: bash, args: { command: "${WAIT}" } }]\n  usage: { input_tokens: 100, output_tokens: 5 }\n- say: The result.\n`,
    );
    const { code, lines } = await playAfterRoot(model);
    const summary = summaryOf(lines) as OutputLine & { usage: { input_tokens: number } };
    const root = String(summary['session_id']);
    const ids = new Set(lines.flatMap(({ event }) => event?.session_id ?? []));
    const [child = ''] = [...ids].filter((id) => id !== root);
    expect(ids.size).toBe(2);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ status: 'completed', turns: 3, tool_calls: 1, exit_code: 0 });
    expect(summary['final_text']).toMatch(/^Heard: The result\.\n\[subagent session helper_/);
    expect(summary.usage.input_tokens).toBe(130);
    const tree = await bench.run(['sessions', 'tree', child.slice(0, 8), '--json']);
    expect(JSON.parse(tree.stdout)).toMatchObject([
      { session_id: root, parent_id: null, depth: 0, status: 'completed' },
      { session_id: child, parent_id: root, depth: 1, status: 'completed', agent: 'helper', title: 'd' },
    ]);
    const shown = await bench.run(['sessions', 'show', child, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ parent_id: root, runs: [{ trigger: 'delegation' }] });
    const events = jsonLines((await bench.run(['sessions', 'events', child])).stdout);
    expect(events).toHaveLength(lines.filter(({ event }) => event?.session_id === child).length);
  });

  it('ends the tree at a signal, and goes on with it at the next run [CLI-3] [DLG-10] [SES-6]', async () => {
    const model = await script(
      STARTS_ONE,
      '- calls: [{ tool: bash, args: { command: "echo $$ >> pids; echo; exec sleep 300" } }]\n- say: unreached\n',
    );
    const started = bench.start(['run', 'go', '--output', 'json', ...model]);
    await started.printed('"tool_output"');
    await started.printed('"final_text":"Started."');
    started.child.kill('SIGTERM');
    const { code, stdout } = await started.ended;
    const lines = jsonLines(stdout);
    expect(code).toBe(4);
    expect(summaryOf(lines)).toMatchObject({ status: 'cancelled', reason: 'signal' });
    expect(await pidsGone()).toBe(true);
    const id = String(summaryOf(lines)['session_id']);
    const again = await bench.runJson([...model, '--session', id]);
    expect(again.code).toBe(0);
    const claimed = payloads(again.lines, 'message_claimed').map(({ text }) => String(text));
    expect(claimed).toEqual([expect.stringMatching(/\[subagent session helper_[0-9a-f]{8}; cancelled; /)]);
  });

  it('shows what a signal has ended as cancelled, also what the parent has not learnt of [DLG-10] [CLI-3]', async () => {
    await bench.write('home/config.toml', '[delegation]\nmax_concurrency = 1\n');
    const model = await script(
      `
- calls:
    - { tool: delegate_subagent, args: { description: a, prompt: p, agent_type: helper, background: true } }
    - { tool: delegate_subagent, args: { description: b, prompt: p, agent_type: helper, background: true } }
    - { tool: bash, args: { command: "exec sleep 300" } }
`,
      '- calls: [{ tool: bash, args: { command: "echo $$ >> pids; echo; exec sleep 300" } }]\n',
    );
    const started = bench.start(['run', 'go', '--output', 'json', ...model]);
    await started.printed('"tool_output"');
    await started.printed('"delegation_queued"');
    started.child.kill('SIGINT');
    const { code, stdout } = await started.ended;
    expect(code).toBe(4);
    expect(await pidsGone()).toBe(true);
    const id = String(summaryOf(jsonLines(stdout))['session_id']);
    const tree = JSON.parse((await bench.run(['sessions', 'tree', id, '--json'])).stdout) as object[];
    expect(tree).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }, { status: 'cancelled' }]);
  });

  it('lets --max-turns span all root runs [CLI-4]', async () => {
    const model = await script(
      STARTS_ONE,
      `- calls: [{ tool: bash, args: { command: "${WAIT}" } }]\n- say: r\n`,
    );
    const { code, lines } = await playAfterRoot([...model, '--max-turns', '2']);
    expect(summaryOf(lines)).toMatchObject({ status: 'cancelled', reason: 'turn_limit', turns: 2 });
    expect(code).toBe(4);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
