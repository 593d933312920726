import type { EventEnvelope } from '@agentd/contract';
import type { EngineEvent } from '@agentd/engine';

/** One run as `sessions show` tells it. */
export interface RunRow {
  readonly run_id: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
  /** Why it was cancelled or failed. */
  readonly reason: string | null;
  readonly trigger: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: number;
  readonly tool_calls: number;
}

type Draft = { -readonly [Key in keyof RunRow]: RunRow[Key] };

/** The runs of a session, in order. */
export function runsOf(events: readonly EventEnvelope[]): readonly RunRow[] {
  const runs = new Map<string, Draft>();
  // A line that the engine cannot read was left out when the log was read.
  for (const event of events as readonly EngineEvent[]) {
    const { run_id: id, payload, timestamp } = event;
    if (id === null) continue;
    if (payload.type === 'run_started') {
      const { trigger, agent, model } = payload;
      runs.set(id, { ...EMPTY, run_id: id, started_at: timestamp, trigger, agent, model });
    }
    const run = runs.get(id);
    if (run !== undefined) applyTo(run, event);
  }
  return [...runs.values()];
}

const EMPTY = {
  ended_at: null,
  status: 'running',
  reason: null,
  turns: 0,
  tool_calls: 0,
} as const;

function applyTo(run: Draft, { payload, timestamp }: EngineEvent): void {
  switch (payload.type) {
    case 'model_turn_committed':
      run.turns += 1;
      return;
    case 'tool_call_started':
      run.tool_calls += 1;
      return;
    case 'run_completed':
      return end(run, timestamp, { status: 'completed', reason: null });
    case 'run_failed':
      return end(run, timestamp, { status: 'failed', reason: payload.error.message });
    case 'run_cancelled':
      return end(run, timestamp, { status: 'cancelled', reason: payload.reason });
    case 'run_interrupted':
      return end(run, timestamp, { status: 'interrupted', reason: null });
    default:
  }
}

function end(run: Draft, at: string, { status, reason }: Pick<RunRow, 'status' | 'reason'>): void {
  run.ended_at = at;
  run.status = status;
  run.reason = reason;
}
