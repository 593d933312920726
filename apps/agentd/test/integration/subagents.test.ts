import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@agentd/contract/testing';
import { openSessions } from '../../src/compose.ts';
import { treeEnd } from '../../src/run/tree-run.ts';
import { TreeTally } from '../../src/run/tree-tally.ts';
import { childrenOf, payloadsIn, resultsOf, rootRun, said, TreeBench, typesOf, until } from './tree-bench.ts';

const ALL = '{ read: allow, bash: allow, delegate: allow, message: allow }';
const QUICK = { default: ALL, helper: ALL };
const WAITS = 'while [ ! -e go ]; do sleep 0.02; done';

describe('subagents in a tree', () => {
  it('runs one in the foreground and one in the background, each result once [DLG-3] [DLG-5] [DLG-6]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: near, prompt: one, agent_type: helper } }
      - { tool: delegate_subagent, args: { description: far, prompt: two, agent_type: helper, background: true } }
  - say: "A: {{ input }}"
  - say: "B: {{ input }}"
helper:
  - say: "answer to {{ input }}"
`,
      agents: QUICK,
    });
    const { events, session } = await bench.play();
    expect(resultsOf(events, session.id).toSorted()).toEqual([
      expect.stringMatching(/^Subagent started\. \[subagent session helper_[0-9a-f]{8}\]$/),
      expect.stringMatching(
        /^answer to one\n\[subagent session helper_[0-9a-f]{8}; completed; 1 line; full output shown\]$/,
      ),
    ]);
    const told = payloadsIn(events, 'message_claimed');
    expect(told).toEqual([
      expect.objectContaining({ session: session.id, text: expect.stringMatching(/^answer to two\n/) }),
    ]);
    expect(said(events, session.id).filter((text) => text.includes('answer to two'))).toHaveLength(1);
  });

  it('nests as deep as it may, at a concurrency of one, and never waits for itself [DLG-9] [field F5] [field F7]', async () => {
    await using bench = await TreeBench.create({
      config: { delegation: { max_depth: 3, max_concurrency: 1 } },
      script: `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: a, prompt: p, agent_type: helper, background: true } }
      - { tool: delegate_subagent, args: { description: b, prompt: p, agent_type: helper, background: true } }
  - say: over
helper:
  - calls: [{ tool: delegate_subagent, args: { description: n, prompt: p, agent_type: helper } }]
  - say: up
`,
      agents: QUICK,
    });
    const { app, events, session } = await bench.play();
    expect(childrenOf(events)).toHaveLength(6);
    expect(payloadsIn(events, 'run_completed').length).toBeGreaterThanOrEqual(7);
    await app.engine.stop();
    expect(await openSessions(bench.situation.project).children(session.id)).toHaveLength(6);
  });

  it('holds mode and overlay for the whole tree, as they stand [PERM-6] [CLI-4]', async () => {
    const calls = `
      - { tool: bash, args: { command: echo asked } }
      - { tool: read, args: { filePath: . } }`;
    await using bench = await TreeBench.create({
      script: `
default:
  - calls: [{ tool: delegate_subagent, args: { description: a, prompt: p, agent_type: helper }, as: a }]
  - say: over
  - calls: [{ tool: delegate_subagent, args: { description: a, prompt: p, agent_type: helper, resume_session_id: "{{ a.metadata.handle }}" } }]
helper:
  - calls: ${calls}
  - say: over
  - calls: ${calls}
`,
      agents: { default: ALL, helper: '{ bash: ask, read: allow }' },
    });
    const { events, session } = await bench.play();
    const [child = ''] = childrenOf(events);
    const outcomes = (): readonly unknown[] =>
      payloadsIn(events, 'tool_call_terminated')
        .filter((one) => one.session === child)
        .map(({ outcome }) => outcome);
    expect(outcomes()).toEqual(['completed', 'completed']);
    await session.setMode('ask');
    await session.setOverlay([{ action: 'read', pattern: '*', effect: 'deny' }]);
    await session.startRun(rootRun());
    await session.quiet();
    expect(outcomes()).toEqual(['completed', 'completed', 'failed', 'failed']);
    expect(resultsOf(events, child).slice(2)).toEqual([
      expect.stringMatching(/^permission_denied/),
      expect.stringMatching(/^permission_denied/),
    ]);
    expect(
      payloadsIn(events, 'run_started').flatMap((one) => (one.session === child ? [one['mode']] : [])),
    ).toEqual(['yolo', 'ask']);
  });

  it('ends what a cancelled run had started, down the tree, with their processes [DLG-10] [field F3]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: a, prompt: p, agent_type: helper } }
      - { tool: delegate_subagent, args: { description: b, prompt: p, agent_type: helper } }
      - { tool: delegate_subagent, args: { description: c, prompt: p, agent_type: sleeper } }
      - { tool: delegate_subagent, args: { description: d, prompt: p, agent_type: sleeper, background: true } }
      - { tool: delegate_subagent, args: { description: e, prompt: p, agent_type: helper, background: true } }
helper:
  - calls: [{ tool: delegate_subagent, args: { description: n, prompt: p, agent_type: sleeper } }]
sleeper:
  - calls: [{ tool: bash, args: { command: "echo $$ >> pids; exec sleep 300" } }]
`,
      agents: { default: ALL, helper: ALL, sleeper: '{ bash: allow }' },
    });
    const { events, session, started } = await bench.start();
    const pids = async (): Promise<readonly number[]> => bench.numbersIn('pids');
    await until(async () => (await pids()).length === 5);
    await session.cancel(started.runId, 'user');
    await session.quiet();
    expect((await pids()).filter(isAlive)).toEqual([]);
    const ends = ['run_completed', 'run_failed', 'run_cancelled', 'run_interrupted'];
    for (const id of [session.id, ...childrenOf(events)])
      expect(typesOf(events, id, ends)).toEqual(['run_cancelled']);
    expect(payloadsIn(events, 'run_cancelled').map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['user', 'parent']),
    );
  });

  it('cuts a whole tree off when the time is up, background and all [CLI-4] [DLG-10]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls: [{ tool: delegate_subagent, args: { description: a, prompt: p, agent_type: sleeper, background: true } }]
  - say: Started.
sleeper:
  - calls: [{ tool: bash, args: { command: "echo $$ >> pids; exec sleep 300" } }]
`,
      agents: { default: ALL, sleeper: '{ bash: allow }' },
    });
    const { events, session, started } = await bench.start();
    const clock = manualClock();
    const waiting = { clock, tally: new TreeTally(), msLeft: () => 600_000 };
    const end = treeEnd({ session, started }, waiting, new AbortController().signal);
    await started.done;
    await until(async () => (await bench.numbersIn('pids')).length === 1);
    clock.advance(600_000);
    expect((await end).end).toMatchObject({ status: 'cancelled', reason: 'timeout', finalText: 'Started.' });
    expect((await bench.numbersIn('pids')).filter(isAlive)).toEqual([]);
    expect(payloadsIn(events, 'run_cancelled')).toHaveLength(1);
  });

  it('ends a whole tree with its last open session, and goes on with what was queued [SES-6] [DLG-11]', async () => {
    await using bench = await TreeBench.create({
      config: { delegation: { max_concurrency: 1 } },
      script: `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: first, prompt: p, agent_type: waiter, background: true } }
      - { tool: delegate_subagent, args: { description: second, prompt: p, agent_type: helper, background: true } }
  - say: over
  - say: "{{ input }}"
  - say: "{{ input }}"
waiter:
  - calls: [{ tool: bash, args: { command: "touch began; ${WAITS}" } }]
helper: [{ say: from the queue }]
`,
      agents: { ...QUICK, waiter: ALL },
    });
    const { session, started } = await bench.start();
    await started.done;
    await until(() => bench.has('began'));
    await session.close();
    const again = await bench.reopen(session.id);
    expect(again.events).toEqual([]);
    await again.session.resume();
    await again.session.quiet();
    const told = payloadsIn(await bench.eventsOf(session.id), 'message_claimed').map(({ text }) => text);
    expect(told.filter((text) => String(text).includes('from the queue'))).toHaveLength(1);
    expect(told.filter((text) => String(text).includes('cancelled'))).toHaveLength(1);
  });

  it('takes idle subagents out of memory without anyone noticing', async () => {
    await using bench = await TreeBench.create({
      config: { delegation: { max_resident_subagents: 1 } },
      script: `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: a, prompt: one, agent_type: helper }, as: a }
      - { tool: delegate_subagent, args: { description: b, prompt: two, agent_type: helper }, as: b }
      - { tool: delegate_subagent, args: { description: c, prompt: three, agent_type: helper }, as: c }
  - calls:
      - { tool: get_subagent_result, args: { session_id: "{{ a.metadata.handle }}" } }
      - { tool: send_message, args: { to: "{{ b.metadata.handle }}", body: again } }
      - { tool: delegate_subagent, args: { description: a, prompt: more, agent_type: helper, resume_session_id: "{{ a.metadata.handle }}" } }
helper:
  - say: "first {{ input }}"
  - say: "second {{ input }}"
`,
      agents: QUICK,
    });
    const opened: string[] = [];
    const sessions = openSessions(bench.situation.project);
    const counted = { ...sessions, open: (id: string) => (opened.push(id), sessions.open(id)) };
    const { events, session } = await bench.play({}, { sessions: counted });
    const [a = '', b = ''] = childrenOf(events);
    expect(new Set(opened)).toEqual(new Set([a, b]));
    const byName = Object.fromEntries([a, b].map((id) => [said(events, id)[0], said(events, id)[1]]));
    expect(byName).toEqual({
      'first one': 'second more',
      'first two': expect.stringMatching(/^second <agent_message from="default_/),
    });
    expect(resultsOf(events, session.id).join()).toContain('<status>completed</status>');
    for (const id of childrenOf(events)) {
      const kept = await bench.eventsOf(id);
      expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => index + 1));
      expect(typesOf(kept, id)).toEqual(typesOf(events, id));
    }
  });

  it('gives a later root run of the same session its own children and the old ones too [DLG-13]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls: [{ tool: delegate_subagent, args: { description: a, prompt: one, agent_type: helper }, as: a }]
  - say: over
  - calls: [{ tool: delegate_subagent, args: { description: a, prompt: two, agent_type: helper, resume_session_id: "{{ a.metadata.session_id }}" } }]
  - say: over again
helper:
  - say: "first {{ input }}"
  - say: "second {{ input }}"
`,
      agents: QUICK,
    });
    const { session } = await bench.play();
    await session.close();
    const again = await bench.reopen(session.id);
    await again.session.startRun(rootRun({ input: 'once more' }));
    await again.session.quiet();
    expect(childrenOf(again.events)).toEqual([]);
    expect(resultsOf(again.events, session.id)).toEqual([expect.stringMatching(/^second two\n/)]);
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
