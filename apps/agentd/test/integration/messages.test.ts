import { describe, expect, it } from '@jest/globals';
import type { EngineEvent } from '@agentd/engine';
import { childrenOf, payloadsIn, resultsOf, said, TreeBench, typesOf } from './tree-bench.ts';

const ALL = '{ read: allow, bash: allow, delegate: allow, message: allow }';
const BOUNDARY = ['tool_call_started', 'tool_call_terminated', 'message_claimed', 'model_turn_committed'];

/** The child writes to its parent while the parent waits for a file that the child makes afterwards. */
const CHILD_WRITES = (mode: string): string => `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: d, prompt: "{{ input }}", agent_type: helper, background: true }, as: child }
      - { tool: bash, args: { command: "while [ ! -e sent ]; do sleep 0.02; done" } }
  - say: "Second: {{ input }}"
    calls: [{ tool: bash, args: { command: "touch heard" } }]
  - say: "Third: {{ input }}"
  - say: "Fourth: {{ input }}"
helper:
  - calls: [{ tool: send_message, args: { to: "{{ input }}", body: "I found it.", mode: ${mode} } }]
  - calls: [{ tool: bash, args: { command: "touch sent; while [ ! -e heard ]; do sleep 0.02; done" } }]
  - say: done
`;

const helperOf = (events: Parameters<typeof childrenOf>[0]): string => childrenOf(events)[0] ?? '';

describe('messages between sessions', () => {
  it('lets steer join a running recipient between its calls, never between a call and its result [MSG-3] [MSG-9] [field G4]', async () => {
    await using bench = await TreeBench.create({
      script: CHILD_WRITES('steer'),
      agents: { default: ALL, helper: ALL },
    });
    const { events, session } = await bench.play();
    expect(typesOf(events, session.id, BOUNDARY).slice(0, 7)).toEqual([
      'model_turn_committed',
      'tool_call_started',
      'tool_call_started',
      'tool_call_terminated',
      'tool_call_terminated',
      'message_claimed',
      'model_turn_committed',
    ]);
    expect(said(events, session.id)[1]).toMatch(
      /^Second: <agent_message from="helper_[0-9a-f]{8}">\nI found it\.\n\n\[use send_message with to "helper_[0-9a-f]{8}" to reply\]\n<\/agent_message>$/,
    );
    expect(receiptsOf(events, helperOf(events))).toEqual([{ mode: 'steer', recipient_state: 'running' }]);
  });

  it('keeps queue back until the run has nothing left to do [MSG-3] [MSG-11]', async () => {
    await using bench = await TreeBench.create({
      script: CHILD_WRITES('queue'),
      agents: { default: ALL, helper: ALL },
    });
    const { events, session } = await bench.play();
    const turns = said(events, session.id);
    expect(turns.slice(0, 3).join()).not.toContain('I found it.');
    expect(turns.slice(3).join()).toContain('Fourth: <agent_message');
    expect(turns.join().split('I found it.')).toHaveLength(2);
  });

  it('wakes who has finished, with the message as input, in its own history [MSG-2] [MSG-3] [DLG-7] [field G12]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls: [{ tool: delegate_subagent, args: { description: d, prompt: p, agent_type: helper }, as: child }]
  - calls: [{ tool: send_message, args: { to: "{{ child.metadata.handle }}", body: One more thing. } }]
  - say: over
helper:
  - say: "first answer"
  - say: "Woken by {{ input }}"
`,
      agents: { default: ALL, helper: ALL },
    });
    const { events, session, app } = await bench.play();
    const child = helperOf(events);
    expect(receiptsOf(events, session.id)).toContainEqual({
      mode: 'steer',
      recipient_state: 'waking_finished',
    });
    expect(said(events, child)).toEqual(['first answer', expect.stringContaining('One more thing.')]);
    expect(payloadsIn(events, 'run_started').filter((one) => one.session === child)).toMatchObject([
      { trigger: 'delegation' },
      { trigger: 'message' },
    ]);
    await app.engine.stop();
    expect(typesOf(await bench.eventsOf(child), child)).toEqual(typesOf(events, child));
  });

  it('gives a queued child its prompt before its messages, and starts it in its turn [MSG-3] [DLG-9]', async () => {
    await using bench = await TreeBench.create({
      config: { delegation: { max_concurrency: 1 } },
      script: `
default:
  - calls:
      - { tool: delegate_subagent, args: { description: a, prompt: p, agent_type: waiter, background: true } }
      - { tool: delegate_subagent, args: { description: b, prompt: the task, agent_type: helper, background: true }, as: b }
  - calls: [{ tool: send_message, args: { to: "{{ b.metadata.handle }}", body: One thing more. } }]
  - calls: [{ tool: get_subagent_result, args: { session_id: "{{ b.metadata.handle }}" } }, { tool: bash, args: { command: "touch sent" } }]
  - say: over
  - say: over
  - say: over
waiter:
  - calls: [{ tool: bash, args: { command: "while [ ! -e sent ]; do sleep 0.02; done" } }]
helper:
  - say: "answer to {{ input }}"
  - say: not needed
`,
      agents: { default: ALL, helper: ALL, waiter: ALL },
    });
    const { events, session } = await bench.play();
    const [, child = ''] = childrenOf(events);
    expect(receiptsOf(events, session.id)).toContainEqual({ mode: 'steer', recipient_state: 'queued' });
    expect(resultsOf(events, session.id)).toContainEqual(expect.stringMatching(/^<status>queued</));
    expect(typesOf(events, child, ['run_started', 'user_input_submitted', 'message_claimed'])).toEqual([
      'run_started',
      'user_input_submitted',
      'message_claimed',
    ]);
    expect(said(events, child)).toEqual([expect.stringMatching(/^answer to [^]*One thing more\./)]);
  });

  it('wakes a root that has finished when a background child writes to it [MSG-3] [CLI-4] [field F8]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls: [{ tool: delegate_subagent, args: { description: d, prompt: "{{ input }}", agent_type: helper, background: true } }]
  - calls: [{ tool: bash, args: { command: "touch gone" } }]
  - say: I am done.
  - say: "Heard: {{ input }}"
  - say: "Heard: {{ input }}"
helper:
  - calls: [{ tool: bash, args: { command: "while [ ! -e gone ]; do sleep 0.02; done; sleep 0.1" } }]
  - say: The result.
`,
      agents: { default: ALL, helper: ALL },
    });
    const { events, session } = await bench.play();
    expect(said(events, session.id).filter((text) => text.includes('The result.'))).toHaveLength(1);
    expect(session.state.lastRun).toMatchObject({ status: 'completed' });
  });

  it('is not published where no rule reaches anybody, and denies the relations that none reaches [MSG-4]', async () => {
    await using bench = await TreeBench.create({
      script: `
default:
  - calls: [{ tool: delegate_subagent, args: { description: d, prompt: "{{ input }}", agent_type: helper } }]
  - calls: [{ tool: delegate_subagent, args: { description: d, prompt: "{{ input }}", agent_type: mute } }]
helper:
  - calls: [{ tool: send_message, args: { to: "{{ input }}", body: hello } }]
mute:
  - calls: [{ tool: send_message, args: { to: "{{ input }}", body: hello } }]
`,
      agents: {
        default: '{ delegate: allow }',
        helper: '{ message: { sibling: allow } }',
        mute: '{ read: allow }',
      },
    });
    const { events, session } = await bench.play();
    const [helper = '', mute = ''] = childrenOf(events);
    expect(resultsOf(events, helper)).toEqual([expect.stringMatching(/^permission_denied/)]);
    expect(resultsOf(events, mute)).toEqual([expect.stringMatching(/^not_published/)]);
    expect(typesOf(events, session.id, ['message_accepted'])).toEqual([]);
  });

  it('refuses with its own codes, and admits nothing then [MSG-1] [MSG-5] [MSG-8] [field G5]', async () => {
    const body = 'a body of more than sixteen bytes';
    await using bench = await TreeBench.create({
      config: { messaging: { max_body_bytes: 16 } },
      script: `
default:
  - calls:
      - { tool: send_message, args: { to: "{{ input }}", body: "${body}" } }
      - { tool: send_message, args: { to: helper_00000000, body: hi } }
      - { tool: send_message, args: { to: 0b6f3c1e-5d0a-4c55-9a58-3f6d1f0c2a11, body: hi } }
`,
      agents: { default: ALL },
    });
    const { events, session } = await bench.play();
    expect(resultsOf(events, session.id).toSorted()).toEqual([
      expect.stringMatching(/^send_message:invalid_body/),
      expect.stringMatching(/^send_message:unknown_session/),
      expect.stringMatching(/^unknown_subagent.*\(none\)/s),
    ]);
    expect(payloadsIn(events, 'message_accepted')).toEqual([]);
  });
});

function receiptsOf(events: readonly EngineEvent[], sessionId: string): readonly unknown[] {
  return payloadsIn(events, 'tool_call_terminated').flatMap(({ session, result }) => {
    const { mode, recipient_state } =
      (result as { metadata?: { mode?: unknown; recipient_state?: unknown } } | null)?.metadata ?? {};
    return session === sessionId && recipient_state !== undefined ? [{ mode, recipient_state }] : [];
  });
}
