import { z } from 'zod';
import type {
  AssistantPart,
  Attachment,
  EventEnvelope,
  EventPayload,
  JsonObject,
  OutputDeclaration,
  RetainedOutput,
} from '@agentd/contract';

/**
 * The engine's events (EVT-2). Writers pass exactly these shapes; readers accept more fields than are named here,
 * and skip a line of a known type whose required fields are damaged (SES-3).
 */
const json = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);
const fault = z.looseObject({ code: z.string(), message: z.string() });
const retained = z.custom<RetainedOutput>((value) => typeof value === 'object' && value !== null);
/** Only who sends one looks closer: a damaged one must not cost the result that it stands in. */
const attachment = z.custom<Attachment>((value) => typeof value === 'object' && value !== null);
const outputDeclaration = z.custom<OutputDeclaration>((value) => typeof value === 'object' && value !== null);
const assistantPart = z.custom<AssistantPart>(
  (value) => typeof value === 'object' && value !== null && 'type' in value,
);

const toolResult = z.looseObject({
  text: z.string(),
  metadata: json,
  display: z.string(),
  attachments: z.array(attachment),
  retained_output: retained.nullable(),
});

export const permissionModes = ['ask', 'auto', 'yolo'] as const;
const rule = z.looseObject({
  action: z.string(),
  pattern: z.string(),
  effect: z.enum(['allow', 'ask', 'deny']),
});

const origin = z.looseObject({
  root_id: z.string(),
  parent_id: z.string(),
  parent_run_id: z.string(),
  tool_call_id: z.string(),
  invocation_id: z.string(),
  depth: z.number(),
});

/** One schema for each event type. */
export const eventSchemas = {
  session_created: z.looseObject({
    type: z.literal('session_created'),
    handle: z.string(),
    agent: z.string(),
    cwd: z.string(),
    title: z.string(),
    origin: origin.nullable(),
  }),
  session_title_committed: z.looseObject({ type: z.literal('session_title_committed'), title: z.string() }),
  agents_md_loaded: z.looseObject({
    type: z.literal('agents_md_loaded'),
    path: z.string(),
    sha256: z.string(),
    text: z.string(),
  }),
  run_started: z.looseObject({
    type: z.literal('run_started'),
    client_run_id: z.string(),
    trigger: z.enum(['user', 'message', 'delegation', 'goal']),
    agent: z.string(),
    model: z.string(),
    tools: z.array(z.string()),
    prompt_sha256: z.string(),
    mode: z.enum(permissionModes),
  }),
  run_completed: z.looseObject({
    type: z.literal('run_completed'),
    final_text: z.string(),
    turns: z.number(),
  }),
  run_failed: z.looseObject({ type: z.literal('run_failed'), error: fault }),
  run_cancelled: z.looseObject({
    type: z.literal('run_cancelled'),
    reason: z.enum(['user', 'signal', 'timeout', 'turn_limit', 'parent']),
  }),
  run_interrupted: z.looseObject({ type: z.literal('run_interrupted') }),
  user_input_submitted: z.looseObject({
    type: z.literal('user_input_submitted'),
    input_id: z.string(),
    text: z.string(),
    kind: z.enum(['prompt', 'steer']),
  }),
  user_input_recalled: z.looseObject({ type: z.literal('user_input_recalled'), input_id: z.string() }),
  model_attempt_started: z.looseObject({
    type: z.literal('model_attempt_started'),
    model: z.string(),
    attempt: z.number(),
  }),
  attempt_abandoned: z.looseObject({
    type: z.literal('attempt_abandoned'),
    model: z.string(),
    attempt: z.number(),
    error: fault,
    retry_in_ms: z.number().nullable(),
    /** SHA-256 of files that go to this model as notes from now on. */
    refused_files: z.array(z.string()).optional(),
  }),
  model_fallback: z.looseObject({ type: z.literal('model_fallback'), from: z.string(), to: z.string() }),
  model_turn_committed: z.looseObject({
    type: z.literal('model_turn_committed'),
    model: z.string(),
    content: z.array(assistantPart),
    finish_reason: z.enum(['stop', 'length', 'content_filter', 'tool_calls', 'other']),
    /** The last event that the request had taken into account; later inputs come after this turn. */
    input_through_seq: z.number(),
  }),
  model_usage_recorded: z.looseObject({
    type: z.literal('model_usage_recorded'),
    model: z.string(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_read_tokens: z.number(),
    cache_write_tokens: z.number(),
    reasoning_tokens: z.number(),
    cost_usd: z.number().nullable(),
  }),
  tool_call_started: z.looseObject({
    type: z.literal('tool_call_started'),
    tool_call_id: z.string(),
    provider_call_id: z.string(),
    /** Where the call stood for another one, that one's; what the model called stands in its turn. */
    tool: z.string(),
    args: z.unknown(),
    /** Null where preparation failed before the action was known. */
    action: z.string().nullable(),
    label: z.string().nullable(),
    /** What recovery needs to publish captured output (SES-6); null where the call captures none. */
    output: outputDeclaration.nullable().default(null),
  }),
  tool_call_progress: z.looseObject({
    type: z.literal('tool_call_progress'),
    tool_call_id: z.string(),
    message: z.string(),
  }),
  tool_call_terminated: z.looseObject({
    type: z.literal('tool_call_terminated'),
    tool_call_id: z.string(),
    outcome: z.enum(['completed', 'failed', 'cancelled', 'interrupted']),
    result: toolResult.nullable(),
    error: fault.nullable(),
  }),
  tool_output_elided: z.looseObject({
    type: z.literal('tool_output_elided'),
    tool_call_id: z.string(),
    /** What the history shows in place of the output and of the files that came with it (MED-9). */
    marker: z.string(),
    /** UTF-8 bytes of the text that was taken out. */
    byte_length: z.number(),
    /** What the marker leads to; standing here keeps it in the store (ART-9). */
    references: z.array(z.looseObject({ uri: z.string() })),
  }),
  tool_stdin_submitted: z.looseObject({
    type: z.literal('tool_stdin_submitted'),
    tool_call_id: z.string(),
    byte_count: z.number(),
    eof: z.boolean(),
  }),
  approval_requested: z.looseObject({
    type: z.literal('approval_requested'),
    approval_id: z.string(),
    tool_call_id: z.string(),
    action: z.string(),
    label: z.string(),
    operation_sha256: z.string(),
    expires_at: z.string().nullable(),
  }),
  approval_finalized: z.looseObject({
    type: z.literal('approval_finalized'),
    approval_id: z.string(),
    decision: z.enum(['once', 'always', 'reject', 'expired', 'cancelled']),
    source: z.enum(['user', 'grant', 'mode', 'classifier', 'policy']),
    feedback: z.string().nullable(),
  }),
  permission_mode_set: z.looseObject({
    type: z.literal('permission_mode_set'),
    mode: z.enum(permissionModes),
  }),
  permission_overlay_set: z.looseObject({ type: z.literal('permission_overlay_set'), rules: z.array(rule) }),
  context_checkpoint_committed: z.looseObject({
    type: z.literal('context_checkpoint_committed'),
    /** Turns committed up to this event are covered: later requests begin after them. */
    through_seq: z.number(),
    summary: z.string(),
    /** What the user said in the covered turns, oldest first, long texts shortened. */
    said: z.array(z.string()),
    /** Who wrote the summary, `provider/model`; null where the engine put it together itself. */
    model: z.string().nullable(),
    reason: z.enum(['size', 'overflow']),
  }),
  context_rehydrated: z.looseObject({
    type: z.literal('context_rehydrated'),
    /** Files that were read again, as they were when the checkpoint was made; the one that was read last comes first. */
    files: z.array(z.looseObject({ label: z.string(), text: z.string() })),
  }),
} as const;

type Closed<Shape> = { [Key in keyof Shape as string extends Key ? never : Key]: Shape[Key] };

/** The type of one event's payload. */
export type EventOf<Type extends keyof typeof eventSchemas> = Closed<z.infer<(typeof eventSchemas)[Type]>>;

/** Every payload that the engine writes. */
export type EnginePayload = { [Type in keyof typeof eventSchemas]: EventOf<Type> }[keyof typeof eventSchemas];

/** What a log takes: the engine's own events, and those of packages that keep theirs beside them. */
export type LoggedPayload = EnginePayload | EventPayload;

/** An engine event as it is read: unknown types are none of these, and reducers pass them over. */
export type EngineEvent = Omit<EventEnvelope, 'payload'> & { readonly payload: EnginePayload };

export type PermissionMode = (typeof permissionModes)[number];
