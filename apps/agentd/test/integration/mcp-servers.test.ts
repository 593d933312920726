import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILTIN_TOOL_NAMES } from '../../src/mcp-servers/builtin-names.ts';
import { processesWith } from './processes.ts';
import { payloads, Workbench } from './workbench.ts';

/** A server by hand whose tools do what their arguments say. */
const ODD_SERVER = join(import.meta.dirname, '../../../../packages/mcp-bridge/src/test/odd-server.ts');

const tool = (name: string) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' } });

function server(name: string, settings: object): string {
  const args = JSON.stringify([ODD_SERVER, JSON.stringify(settings)]);
  return `[mcp.servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
}

const asJson = (settings: object, more: object = {}) =>
  JSON.stringify({
    mcpServers: { odd: { command: process.execPath, args: [ODD_SERVER, JSON.stringify(settings)], ...more } },
  });

describe('MCP servers of the settings', () => {
  let bench: Workbench;
  let journal: string;
  beforeAll(async () => {
    bench = await Workbench.create();
    journal = join(bench.workspace, 'journal');
    const settings = { tools: ['busy', 'echo', 'message'].map(tool), journal };
    await bench.write(
      'home/config.toml',
      `${server('a', settings)}${server('b', settings)}${server('send', { tools: [tool('message')] })}` +
        '[mcp.servers.off]\ncommand = "nothing"\nenabled = false\n[mcp.servers.gone]\ncommand = "no-such-program"\n',
    );
  });
  afterAll(async () => bench[Symbol.asyncDispose]());

  it('are shown with their states, and checked by doctor [MCP-1]', async () => {
    const { code, stdout } = await bench.run(['mcp-servers', 'list', '--json']);
    const rows = JSON.parse(stdout) as readonly { name: string; state: string; problem: string | null }[];
    expect(code).toBe(0);
    expect(rows.map(({ name, state, problem }) => [name, state, problem])).toEqual([
      ['a', 'connected', null],
      ['b', 'connected', null],
      ['send', 'connected', null],
      ['off', 'disabled', null],
      ['gone', 'failed', 'command not found: no-such-program'],
    ]);
    const doctor = await bench.run(['doctor']);
    expect(doctor.stdout).toContain('ok       mcp server a: connected, 3 tools\n');
    expect(doctor.stdout).toContain('problem  mcp server gone: command not found: no-such-program\n');
  });

  it('have tools beside ours, and ours keep their names [MCP-3]', async () => {
    const everything = ['--allow', 'delegate', '--allow', 'message', '--allow', 'skill'];
    const { stdout } = await bench.run(['tools', 'list', '--json', ...everything]);
    const names = (JSON.parse(stdout) as readonly { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['a_busy', 'b_busy', 'a_echo']));
    expect(names.filter((name) => name.startsWith('send_'))).toContainEqual(
      expect.stringMatching(/^send_message_[0-9a-f]{8}$/),
    );
    const ours = names.filter((name) => !/^(?:a|b|send)_.*|^mcp_/.test(name) || name === 'send_message');
    expect(ours.filter((name) => !(BUILTIN_TOOL_NAMES as readonly string[]).includes(name))).toEqual([]);
  });

  it('take part in runs under their published names; calls of one server never overlap [SCH-6] [MCP-2] [PERM-10]', async () => {
    const calls = ['a_busy', 'a_busy', 'b_busy', 'b_busy'].map(
      (name, n) => `{ tool: ${name}, args: { n: ${n} } }`,
    );
    const model = await bench.script(
      `- { calls: [${calls.join(', ')}] }\n- { calls: [{ tool: a_echo, args: {} }] }\n- say: Done.`,
    );
    await rm(journal, { force: true });
    const rules = ['--allow', 'mcp:*_busy', '--deny', 'mcp:a_echo'];
    const { code, lines, stderr } = await bench.runJson([...rules, ...model]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'agentd: MCP server gone: command not found: no-such-program\n',
    });
    const ends = payloads(lines, 'tool_call_terminated').map(({ outcome }) => outcome);
    expect(ends).toEqual(['completed', 'completed', 'completed', 'completed', 'failed']);
    const marks = (await readFile(journal, 'utf8'))
      .split('\n')
      .filter((line) => /^(?:begin|end) /.test(line));
    for (const own of [
      ['0', '1'],
      ['2', '3'],
    ]) {
      const order = marks.filter((mark) => own.includes(mark.split(' ')[1] ?? ''));
      expect(order.map((mark) => mark.split(' ')[0])).toEqual(['begin', 'end', 'begin', 'end']);
    }
  });

  it('are offered through search where their text is over the budget; a call is judged and logged as its tool [PERM-10] [MCP-5]', async () => {
    await using other = await Workbench.create();
    await other.write(
      'home/config.toml',
      `[mcp]\ntool_text_budget_tokens = 1\n${server('a', { tools: ['echo', 'other'].map(tool) })}`,
    );
    const call = (name: string) => `{ tool: mcp_call, args: { tool: ${name}, arguments: { x: 1 } } }`;
    const model = await other.script(
      `- { calls: [{ tool: mcp_search_tools, args: { query: echo } }] }\n- { calls: [${call('a_echo')}, ${call('a_other')}, ${call('a_none')}] }\n- say: Done.`,
    );
    const { lines } = await other.runJson(['--allow', 'mcp', '--deny', 'mcp:a_other', ...model]);
    const started = payloads(lines, 'run_started')[0];
    expect(started?.['tools']).toEqual(expect.arrayContaining(['mcp_search_tools', 'mcp_call']));
    expect(started?.['tools']).not.toContain('a_echo');
    const named = payloads(lines, 'tool_call_started').map(({ tool: name, args }) => ({ name, args }));
    expect(named.slice(1)).toEqual([
      { name: 'a_echo', args: { x: 1 } },
      { name: 'a_other', args: { x: 1 } },
      // There is no such tool to stand for.
      { name: 'mcp_call', args: { tool: 'a_none', arguments: { x: 1 } } },
    ]);
    const ends = payloads(lines, 'tool_call_terminated');
    const [search] = ends;
    expect(search).toMatchObject({ result: { text: expect.stringContaining('a_echo') } });
    const failedWith = (code: string) =>
      ends.find(({ error }) => (error as { readonly code: string } | null)?.code === code);
    const allowed = ends.find((end) => end !== search && end['outcome'] === 'completed');
    const [denied, unknown] = ['permission_denied', 'not_published'].map(failedWith);
    expect(allowed).toMatchObject({
      outcome: 'completed',
      result: {
        text: '{"tool":"echo","arguments":{"x":1}}',
        metadata: { mcp: { server: 'a', tool: 'echo' } },
      },
    });
    expect(JSON.stringify(denied)).toContain('a_other');
    expect(JSON.stringify(unknown)).toContain('a_none');
  });

  it('may change their tools in the middle of a run [MCP-4] [field H13]', async () => {
    await using other = await Workbench.create();
    const settings = { tools: [tool('changed')], toolsLater: [tool('echo')] };
    await other.write('home/config.toml', server('a', settings));
    const model = await other.script(
      '- { calls: [{ tool: a_changed, args: { notices: 3 } }] }\n- { calls: [{ tool: a_echo, args: {} }, { tool: a_changed, args: {} }] }\n- say: Done.',
    );
    const { lines } = await other.runJson(['--allow', 'mcp', ...model]);
    const ends = payloads(lines, 'tool_call_terminated').map(({ outcome, error }) => [
      outcome,
      (error as { readonly code: string } | null)?.code,
    ]);
    expect(ends.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
      ['completed', undefined],
      ['completed', undefined],
      ['failed', 'not_published'],
    ]);
  });

  const linuxIt = process.platform === 'linux' ? it : it.skip;
  linuxIt('do not outlive an agentd that is killed, whatever they ignore [MCP-7]', async () => {
    await using other = await Workbench.create();
    const marker = `server-${process.pid}-${Date.now()}`;
    const calls = join(other.workspace, 'calls');
    const settings = { tools: [tool('wait')], silentAt: 'tools/call', journal: calls };
    // When the server has read the end of its input, its shell goes on.
    const program = '"$0" "$1" "$2"; exec -a "$3" sleep 300';
    const args = ['-c', program, process.execPath, ODD_SERVER, JSON.stringify(settings), marker];
    await other.write(
      'home/config.toml',
      `[mcp.servers.a]\ncommand = "bash"\nargs = ${JSON.stringify(args)}\n`,
    );
    const model = await other.script('- { calls: [{ tool: a_wait, args: {} }] }\n- say: Done.');
    const agentd = other.start(['run', 'go', '--mode', 'yolo', ...model]);
    const soon = () => new Promise((resolve) => setTimeout(resolve, 20));
    while (!(await readFile(calls, 'utf8').catch(() => '')).includes('tools/call')) await soon();
    expect(processesWith(marker)).toHaveLength(1);
    agentd.child.kill('SIGKILL');
    await agentd.ended;
    // A test of a process that lives on runs into Jest's limit.
    while (processesWith(marker).length > 0) await soon();
  });

  it('are strictly read [CFG-2] [CFG-3]', async () => {
    await using other = await Workbench.create();
    const refused = async (text: string): Promise<string> => {
      await other.write('home/config.toml', text);
      const { code, stderr } = await other.run(['mcp-servers', 'list']);
      expect(code).toBe(5);
      return stderr;
    };
    expect(await refused('[mcp.servers.x]\nurl = "http://h"\nargs = ["a"]\n')).toMatch(
      /config\.toml:3:1: mcp\.servers\.x\.args: expected only with "command"/,
    );
    expect(await refused('[mcp.servers.x]\nurl = "http://h"\n[mcp.servers.x.oauth]\nclient = "a"\n')).toMatch(
      /config\.toml:[34]:1: .*oauth/,
    );
    await other.write('home/config.toml', '[mcp.servers.x]\nurl = "${env:NOT_SET_HERE}"\n');
    const { stdout } = await other.run(['mcp-servers', 'list']);
    expect(stdout).toMatch(/^x +failed +the environment variable NOT_SET_HERE is not set/);
  });
});

describe('what a workspace brings', () => {
  let bench: Workbench;
  beforeAll(async () => (bench = await Workbench.create()));
  afterAll(async () => bench[Symbol.asyncDispose]());

  it('counts once its digest is trusted, and no longer when it changes [PERM-11] [CFG-1]', async () => {
    const started = join(bench.workspace, 'started');
    const settings = { tools: [tool('echo')], journal: started };
    await bench.write('ws/.mcp.json', asJson(settings));
    await bench.write(
      'ws/.agentd/agents/helper.md',
      '---\ndescription: helps\npermissions: { mcp: allow }\n---\nHelp.',
    );
    const call = ['tools', 'call', 'odd_echo', '{}', '--mode', 'yolo'];
    const skipped =
      /\.mcp\.json and .*\.agentd\/agents are not trusted: skipped \(look at it and run "agentd trust"/;

    expect(await bench.run(call)).toMatchObject({ code: 1, stderr: expect.stringMatching(skipped) });
    await expect(stat(started)).rejects.toMatchObject({ code: 'ENOENT' });

    const once = await bench.run([...call, '--trust']);
    expect(once).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"echo"') });

    const trust = await bench.run(['trust']);
    expect(trust).toMatchObject({ code: 0, stderr: '' });
    expect(trust.stdout).toBe(
      `.agentd/agents/helper.md\n.mcp.json\n2 files trusted as they are in ${bench.workspace}\n`,
    );
    expect((await stat(join(bench.home, 'trust.json'))).mode & 0o777).toBe(0o600);
    expect(await bench.run(call)).toMatchObject({ code: 0, stderr: '' });

    await bench.write(
      'ws/.agentd/agents/helper.md',
      '---\ndescription: helps\npermissions: { mcp: allow }\n---\nDo.',
    );
    const changed = await bench.run(call);
    expect(changed.code).toBe(1);
    expect(changed.stderr).toMatch(/are no longer what you trusted: skipped/);
  });

  it('is read as other programs write it; an entry that cannot be used costs itself [MCP-1]', async () => {
    await using other = await Workbench.create();
    await other.write(
      'ws/.mcp.json',
      JSON.stringify({
        mcpServers: {
          good: {
            type: 'stdio',
            command: '${NODE}',
            args: [ODD_SERVER, '${SETTINGS:-{}'],
            env: { TOKEN: '${env:TOKEN}' },
            alwaysAllow: [],
          },
          off: { command: 'x', disabled: true },
          old: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
          unset: { command: '${NOT_SET_HERE}' },
        },
      }),
    );
    const env = { NODE: process.execPath, TOKEN: 't', SETTINGS: '{}' };
    const { stdout } = await other.run(['mcp-servers', 'list', '--trust', '--json'], { env });
    const rows = JSON.parse(stdout) as readonly { name: string; state: string; problem: string | null }[];
    expect(rows.map(({ name, state }) => [name, state])).toEqual([
      ['good', 'connected'],
      ['off', 'disabled'],
      ['old', 'failed'],
      ['unset', 'failed'],
    ]);
    expect(rows[2]?.problem).toContain('its transport "sse" is not supported; use stdio or http');
    expect(rows[3]?.problem).toContain('the environment variable NOT_SET_HERE is not set');
  });

  it('keeps from commands what it gives to servers, but for what every program knows [BASH-2] [PERM-11]', async () => {
    await using other = await Workbench.create();
    const env = { TOKEN: '${env:OF_SETTINGS}', PATH: '${env:PATH}' };
    const table = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    await other.write('home/config.toml', `${server('a', {})}env = { ${table.join(', ')} }\n`);
    await other.write('home/mcp.json', asJson({}, { args: ['--token=${OF_USER}', '${PATH}'] }));
    await other.write(
      'ws/.mcp.json',
      JSON.stringify({
        mcpServers: { w: { url: 'http://127.0.0.1:1/mcp', headers: { k: 'x ${OF_WORKSPACE:-none}' } } },
      }),
    );
    const given = { OF_SETTINGS: 's', OF_USER: 'u', OF_WORKSPACE: 'w', PLAIN: 'p' };
    const command = 'echo "[$OF_SETTINGS$OF_USER$OF_WORKSPACE$PLAIN]" && env | grep -c ^PATH=';
    const call = ['tools', 'call', 'bash', JSON.stringify({ command }), '--mode', 'yolo', '--trust'];
    expect((await other.run(call, { env: given })).stdout).toContain('\n[p]\n1\n');
  });
});
