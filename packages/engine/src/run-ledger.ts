import type { AssistantPart, RunId } from '@agentd/contract';
import type { EngineEvent, EventOf } from './events.ts';
import { UsageLedger, type UsageTotals } from './usage-totals.ts';

export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';

/** One run as its events tell it. */
export interface RunRecord {
  readonly runId: RunId;
  /** Null where the line of `run_started` was lost. */
  readonly clientRunId: string | null;
  /** The agent that ran, and the first model of its chain; null where the line was lost, or for a call by hand. */
  readonly agent: string | null;
  readonly model: string | null;
  readonly startedSeq: number;
  /** RFC 3339, as the events have it. */
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly ended: boolean;
  readonly status: RunStatus;
  /** Why a cancelled run was cancelled. */
  readonly reason: EventOf<'run_cancelled'>['reason'] | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Text of the run's newest turn. */
  readonly finalText: string;
  readonly turns: number;
  readonly toolCalls: number;
  readonly denials: number;
  readonly usage: UsageTotals;
}

class Run implements RunRecord {
  readonly runId: RunId;
  readonly clientRunId: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly ledger = new UsageLedger();
  endedAt: string | null = null;
  status: RunStatus = 'running';
  reason: RunRecord['reason'] = null;
  error: RunRecord['error'] = null;
  finalText = '';
  turns = 0;
  toolCalls = 0;
  denials = 0;

  constructor(runId: RunId, { payload, seq, timestamp }: EngineEvent) {
    const start = payload.type === 'run_started' ? payload : null;
    this.runId = runId;
    this.clientRunId = start?.client_run_id ?? null;
    this.agent = start?.agent ?? null;
    this.model = start === null || start.model === '' ? null : start.model;
    this.startedSeq = seq;
    this.startedAt = timestamp;
  }

  get ended(): boolean {
    return this.status !== 'running';
  }

  get usage(): UsageTotals {
    return this.ledger.totals;
  }

  end(status: RunStatus, at: string): void {
    this.status = status;
    this.endedAt = at;
  }
}

/** The runs of one session. At most one is active: a run that starts ends, as interrupted, any that has no end yet. */
export class RunLedger {
  readonly #runs = new Map<RunId, Run>();
  readonly #byClientId = new Map<string, Run>();
  #last: Run | null = null;
  #active: Run | null = null;

  get active(): RunRecord | null {
    return this.#active;
  }

  get last(): RunRecord | null {
    return this.#last;
  }

  byClientId(clientRunId: string): RunRecord | undefined {
    return this.#byClientId.get(clientRunId);
  }

  apply(event: EngineEvent): void {
    const { payload, run_id: runId } = event;
    if (runId === null) return;
    if (payload.type === 'run_started') return this.#start(runId, payload.client_run_id, event);
    if (!isEnd(payload)) return this.#count(this.#runs.get(runId), payload);
    // The line that started the run may be lost; that it ended is still known.
    this.#end(this.#runs.get(runId) ?? this.#add(new Run(runId, event)), event);
  }

  #start(runId: RunId, clientRunId: string, event: EngineEvent): void {
    if (this.#runs.has(runId)) return;
    this.#active?.end('interrupted', event.timestamp);
    this.#active = this.#add(new Run(runId, event));
    if (!this.#byClientId.has(clientRunId)) this.#byClientId.set(clientRunId, this.#active);
  }

  #add(run: Run): Run {
    this.#runs.set(run.runId, run);
    this.#last = run;
    return run;
  }

  #end(run: Run, { payload, timestamp }: EngineEvent): void {
    if (run.ended || !isEnd(payload)) return;
    run.end(END_STATUS[payload.type], timestamp);
    if (payload.type === 'run_completed') run.finalText = payload.final_text;
    if (payload.type === 'run_failed') run.error = payload.error;
    if (payload.type === 'run_cancelled') run.reason = payload.reason;
    if (run === this.#active) this.#active = null;
  }

  #count(run: Run | undefined, payload: EngineEvent['payload']): void {
    if (run === undefined) return;
    if (payload.type === 'model_usage_recorded') run.ledger.add(payload);
    if (payload.type === 'tool_call_started') run.toolCalls += 1;
    if (payload.type === 'tool_call_terminated' && payload.error?.code === 'permission_denied')
      run.denials += 1;
    if (payload.type !== 'model_turn_committed') return;
    run.turns += 1;
    run.finalText = textOf(payload.content);
  }
}

const END_STATUS = {
  run_completed: 'completed',
  run_failed: 'failed',
  run_cancelled: 'cancelled',
  run_interrupted: 'interrupted',
} as const;

type EndPayload = EventOf<keyof typeof END_STATUS>;

function isEnd(payload: EngineEvent['payload']): payload is EndPayload {
  return Object.hasOwn(END_STATUS, payload.type);
}

/** What a turn says, its reasoning and calls left out. */
export function textOf(content: readonly AssistantPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
