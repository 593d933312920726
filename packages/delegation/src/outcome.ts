import type { DelegationEnd, DelegationRecord } from './delegation-record.ts';
import type { CancelledBy } from './job.ts';
import { previewOf } from './preview.ts';

/** How a child's run ended, or why there was none. */
export interface ChildOutcome {
  readonly status: DelegationEnd['status'];
  /** What it said last. */
  readonly text: string;
  readonly error: DelegationEnd['error'];
}

/** It ended before its run began. */
export function withoutRun(status: 'cancelled' | 'interrupted'): ChildOutcome {
  return { status, text: '', error: null };
}

export interface Ending {
  readonly cancelledBy: CancelledBy | null;
  /** The run that delegated was cancelled, as the parent's log says. */
  readonly runCancelled: boolean;
  /** The call that started the child is still there to tell how it ended. */
  readonly callWaits: boolean;
}

/** What the parent's log records of an outcome. */
export function endOf(record: DelegationRecord, outcome: ChildOutcome, ending: Ending): DelegationEnd {
  const { status, text, error } = outcome;
  return { status, ...previewOf(text), error: bounded(error), delivery: deliveryOf(record, status, ending) };
}

/** What went wrong is told in as much space as what was said. */
function bounded(error: ChildOutcome['error']): DelegationEnd['error'] {
  return error === null ? null : { code: error.code, message: previewOf(error.message).preview };
}

/**
 * Who tells the parent, so that it learns each end once (DLG-11): the call that waits; else its inbox; nobody, where
 * the parent itself has put an end to the child and the child did not get further than that.
 */
function deliveryOf(
  { background, callLost }: DelegationRecord,
  status: DelegationEnd['status'],
  { cancelledBy, runCancelled, callWaits }: Ending,
): DelegationEnd['delivery'] {
  if (callWaits || !(background || callLost)) return 'call';
  if (runCancelled || cancelledBy === 'run')
    return status === 'cancelled' || status === 'interrupted' ? 'none' : 'inbox';
  return cancelledBy === 'tool' && status === 'cancelled' ? 'none' : 'inbox';
}

/** Whether a result is a reason to get an idle parent going: not one that was told to stop (DLG-3, DLG-10). */
export function wakesParent({ delivery }: DelegationEnd, { cancelledBy, runCancelled }: Ending): boolean {
  return delivery === 'inbox' && !runCancelled && cancelledBy !== 'run';
}
