import type {
  EventEnvelope,
  HeldSession,
  RunId,
  RunStatus,
  SessionFacts,
  SessionId,
  SessionRun,
} from '@agentd/contract';

const STATUS: Readonly<Record<string, RunStatus>> = {
  run_completed: 'completed',
  run_failed: 'failed',
  run_cancelled: 'cancelled',
  run_interrupted: 'interrupted',
};

/** The runs that a log tells of, oldest first. */
export function runsOf(events: readonly EventEnvelope[]): readonly SessionRun[] {
  const runs = new Map<RunId, SessionRun>();
  for (const { run_id: runId, payload } of events) {
    if (runId === null) continue;
    if (payload.type === 'run_started') runs.set(runId, { runId, status: 'running', text: '', error: null });
    const run = runs.get(runId);
    if (run === undefined) continue;
    const said = payload.type === 'model_turn_committed' ? payload['text'] : payload['final_text'];
    const error = payload.type === 'run_failed' ? (payload['error'] as SessionRun['error']) : run.error;
    const text = typeof said === 'string' ? said : run.text;
    runs.set(runId, { ...run, text, error, status: STATUS[payload.type] ?? run.status });
  }
  return [...runs.values()];
}

/** The run that was started under this id. */
export function runByClientId(events: readonly EventEnvelope[], clientRunId: string): SessionRun | undefined {
  const started = events.find(
    ({ payload }) => payload.type === 'run_started' && payload['client_run_id'] === clientRunId,
  );
  return runsOf(events).find(({ runId }) => runId === started?.run_id);
}

/** What a log says of its session; null for one that was never created. */
export function factsOf(sessionId: SessionId, events: readonly EventEnvelope[]): SessionFacts | null {
  const created = events.find(({ payload }) => payload.type === 'session_created')?.payload;
  if (created === undefined) return null;
  const origin = created['origin'] as Record<string, string | number> | null;
  return {
    sessionId,
    handle: textOf(created, 'handle'),
    description: textOf(created, 'title'),
    status: runsOf(events).at(-1)?.status ?? 'idle',
    rootId: String(origin?.['root_id'] ?? sessionId),
    parentId: origin === null ? null : String(origin['parent_id']),
    agent: textOf(created, 'agent'),
    cwd: '/',
    depth: Number(origin?.['depth'] ?? 0),
  };
}

/** What was said, the newest bytes of it: prompts and answers. */
export function conversationOf(events: readonly EventEnvelope[], maxBytes: number): string {
  const said = events.flatMap(({ payload }) => {
    if (payload.type === 'user_input_submitted') return [`User: ${textOf(payload, 'text')}`];
    return payload.type === 'model_turn_committed' ? [`Assistant: ${textOf(payload, 'text')}`] : [];
  });
  // A character that the cut has hit is left out.
  return Buffer.from(said.join('\n'))
    .subarray(-maxBytes)
    .toString()
    .replace(/^\uFFFD+/, '');
}

/** What a crash left open, as events that close it. */
export function closingEvents(
  events: readonly EventEnvelope[],
): readonly Pick<EventEnvelope, 'payload' | 'run_id'>[] {
  const open = new Map<unknown, RunId | null>();
  for (const { payload, run_id: runId } of events) {
    if (payload.type === 'tool_call_started') open.set(payload['tool_call_id'], runId);
    if (payload.type === 'tool_call_terminated') open.delete(payload['tool_call_id']);
  }
  const calls = [...open].map(([callId, runId]) => ({
    run_id: runId,
    payload: { type: 'tool_call_terminated', tool_call_id: String(callId), outcome: 'interrupted' },
  }));
  const runs = runsOf(events)
    .filter(({ status }) => status === 'running')
    .map(({ runId }) => ({ run_id: runId, payload: { type: 'run_interrupted' } }));
  return [...calls, ...runs];
}

/** A session in memory; thrown away when it is paged out. */
export type LiveSession<Ledger extends { readonly apply: (event: EventEnvelope) => void }> = Pick<
  HeldSession<Ledger>,
  'inbox' | 'ledger'
>;

export function textOf(payload: EventEnvelope['payload'], field: string): string {
  const value = payload[field];
  return typeof value === 'string' ? value : '';
}
