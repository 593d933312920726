import { describe, expect, it } from '@jest/globals';
import type { EventPayload } from '@agentd/contract';
import { envelopeProblem } from './event-shape.ts';
import { eventSchemas } from './events.ts';
import { envelope } from './file/testing/sample-events.ts';

const result = { text: '', metadata: {}, display: '', attachments: [], retained_output: null };
const fault = { code: 'c', message: 'm' };

/** One event of each type with the fields of EVT-2, and no others. */
const SAMPLES: readonly EventPayload[] = [
  { type: 'session_created', handle: 'h', agent: 'a', cwd: '/', title: 't', origin: null },
  { type: 'session_title_committed', title: 't' },
  { type: 'agents_md_loaded', path: '/AGENTS.md', sha256: 's', text: 't' },
  {
    type: 'run_started',
    client_run_id: 'c',
    trigger: 'user',
    agent: 'a',
    model: 'm',
    tools: [],
    prompt_sha256: 's',
    mode: 'ask',
  },
  { type: 'run_completed', final_text: 'f', turns: 1 },
  { type: 'run_failed', error: fault },
  { type: 'run_cancelled', reason: 'user' },
  { type: 'run_interrupted' },
  { type: 'user_input_submitted', input_id: 'i', text: 't', kind: 'steer' },
  { type: 'user_input_recalled', input_id: 'i' },
  { type: 'model_attempt_started', model: 'm', attempt: 1 },
  { type: 'attempt_abandoned', model: 'm', attempt: 1, error: fault, retry_in_ms: null },
  { type: 'model_fallback', from: 'm', to: 'n' },
  { type: 'model_turn_committed', model: 'm', content: [], finish_reason: 'stop', input_through_seq: 1 },
  {
    type: 'model_usage_recorded',
    model: 'm',
    input_tokens: 1,
    output_tokens: 1,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    cost_usd: null,
  },
  {
    type: 'tool_call_started',
    tool_call_id: 'c',
    provider_call_id: 'p',
    tool: 't',
    args: {},
    action: null,
    label: null,
  },
  { type: 'tool_call_progress', tool_call_id: 'c', message: 'm' },
  { type: 'tool_call_terminated', tool_call_id: 'c', outcome: 'failed', result, error: fault },
  { type: 'tool_output_elided', tool_call_id: 'c', marker: 'm', byte_length: 1, references: [] },
  { type: 'tool_stdin_submitted', tool_call_id: 'c', byte_count: 1, eof: false },
  {
    type: 'approval_requested',
    approval_id: 'a',
    tool_call_id: 'c',
    action: 'bash',
    label: 'l',
    operation_sha256: 's',
    expires_at: null,
  },
  { type: 'approval_finalized', approval_id: 'a', decision: 'once', source: 'user', feedback: null },
  { type: 'permission_mode_set', mode: 'yolo' },
  { type: 'permission_overlay_set', rules: [{ action: 'bash', pattern: '*', effect: 'ask' }] },
  {
    type: 'context_checkpoint_committed',
    through_seq: 1,
    summary: 's',
    said: ['t'],
    model: null,
    reason: 'size',
  },
  { type: 'context_rehydrated', files: [{ label: 'l', text: 't' }] },
];

const fieldsOf = (payload: EventPayload): readonly string[] =>
  Object.keys(payload).filter((field) => field !== 'type');
const without = (payload: EventPayload, field: string): EventPayload =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => key !== field)) as EventPayload;

describe('the shapes of events', () => {
  it('cover every type that the engine writes [EVT-2]', () => {
    expect(Object.keys(eventSchemas)).toEqual(SAMPLES.map(({ type }) => type));
  });

  it.each(SAMPLES.map((payload) => [payload.type, payload] as const))(
    'take %s with the fields of EVT-2, and with more [EVT-1] [EVT-2]',
    (_, payload) => {
      expect(envelopeProblem(envelope(1, payload))).toBeUndefined();
      expect(envelopeProblem(envelope(1, { ...payload, added_later: [1] }))).toBeUndefined();
    },
  );

  it.each(
    SAMPLES.flatMap((payload) => fieldsOf(payload).map((field) => [payload.type, field, payload] as const)),
  )('refuse %s without %s, and name the field [EVT-2]', (...[type, field, payload]) => {
    expect(envelopeProblem(envelope(1, without(payload, field)))).toContain(
      `${type} with a wrong "${field}"`,
    );
  });
});
