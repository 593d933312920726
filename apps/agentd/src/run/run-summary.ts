import type { RunEnd, UsageTotals } from '@agentd/engine';
import { EXIT } from '../exit-codes.ts';

/** The last line of `--output json` (CLI-5). */
export interface RunSummary {
  readonly type: 'summary';
  readonly status: RunEnd['status'];
  readonly reason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly exit_code: number;
  readonly session_id: string;
  readonly run_id: string;
  readonly final_text: string;
  readonly turns: number;
  readonly tool_calls: number;
  readonly denials: number;
  readonly usage: UsageTotals['total'] & { readonly models: UsageTotals['models'] };
  readonly duration_ms: number;
}

export interface RunIdentity {
  readonly sessionId: string;
  readonly runId: string;
  readonly failOnDenial: boolean;
}

export function summaryOf(end: RunEnd, { sessionId, runId, failOnDenial }: RunIdentity): RunSummary {
  const error = end.error === null ? null : { code: end.error.code, message: end.error.message };
  return {
    type: 'summary',
    status: end.status,
    reason: end.reason,
    error,
    exit_code: exitCodeOf(end, failOnDenial),
    session_id: sessionId,
    run_id: runId,
    final_text: end.finalText,
    turns: end.turns,
    tool_calls: end.toolCalls,
    denials: end.denials,
    usage: { ...end.usage.total, models: end.usage.models },
    duration_ms: end.durationMs,
  };
}

/** CLI-3. */
function exitCodeOf({ status, denials }: RunEnd, failOnDenial: boolean): number {
  if (status === 'failed') return EXIT.failed;
  if (status === 'cancelled') return EXIT.cancelled;
  return failOnDenial && denials > 0 ? EXIT.denied : EXIT.completed;
}
