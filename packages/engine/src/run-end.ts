import type { Fault } from './fault.ts';
import type { RunRecord } from './run-ledger.ts';
import type { UsageTotals } from './usage-totals.ts';

/** How a run ended, as its events tell it. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'cancelled';
  /** Why it was cancelled; `interrupted` for a run that a crash ended, which counts as failed. */
  readonly reason: 'user' | 'signal' | 'timeout' | 'turn_limit' | 'parent' | 'interrupted' | null;
  readonly error: Fault | null;
  /** Text of the newest turn. */
  readonly finalText: string;
  readonly turns: number;
  readonly toolCalls: number;
  readonly denials: number;
  readonly usage: UsageTotals;
  readonly durationMs: number;
}

const INTERRUPTED: Fault = {
  code: 'ENGINE_RUN_INTERRUPTED',
  message: 'the process that ran it ended before the run did',
};

/** What a caller is told of a run that has ended. `fault` is a failure that the log could not take any more. */
export function runEndOf(record: RunRecord, fault: Fault | null = null): RunEnd {
  const { finalText, turns, toolCalls, denials, usage, startedAt, endedAt } = record;
  return {
    ...verdictOf(record, fault),
    finalText,
    turns,
    toolCalls,
    denials,
    usage,
    durationMs: Math.max(0, Date.parse(endedAt ?? startedAt) - Date.parse(startedAt)),
  };
}

function verdictOf(
  { status, reason, error }: RunRecord,
  fault: Fault | null,
): Pick<RunEnd, 'status' | 'reason' | 'error'> {
  if (fault !== null) return { status: 'failed', reason: null, error: fault };
  if (status === 'completed') return { status, reason: null, error: null };
  if (status === 'cancelled') return { status, reason, error: null };
  if (status === 'failed') return { status, reason: null, error };
  return { status: 'failed', reason: 'interrupted', error: INTERRUPTED };
}
