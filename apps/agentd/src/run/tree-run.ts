import type { Clock } from '@agentd/contract';
import type { CancelReason, RunEnd, Session, StartedRun } from '@agentd/engine';
import type { TreeTally } from './tree-tally.ts';

export interface TreeRunInit {
  readonly clock: Clock;
  readonly tally: TreeTally;
  /** For the whole tree; the first run has its own timer beside. */
  readonly msLeft: () => number;
}

/** How a command's root runs ended, taken together. */
export interface TreeEnd {
  readonly runId: string;
  readonly end: RunEnd;
}

/**
 * Waits until the tree of a run is quiet (CLI-4). A signal, or the end of the time, cancels what runs and ends the tree;
 * everything that ended so is on disk when it resolves.
 */
export async function treeEnd(
  { session, started }: { readonly session: Session; readonly started: StartedRun },
  { clock, tally, msLeft }: TreeRunInit,
  stop: AbortSignal,
): Promise<TreeEnd> {
  const startedAt = clock.now();
  const cut = await quietOrCut(session, { clock, msLeft }, stop);
  const first = await started.done;
  if (cut !== null) await session.close().catch(() => undefined);
  const last = session.state.lastRun;
  const isFirst = last === null || last.runId === started.runId;
  const end = isFirst ? first : (session.newestEnd ?? first);
  return {
    runId: isFirst ? started.runId : last.runId,
    end: {
      ...(cut === null ? end : cutShort(end, cut)),
      turns: tally.turnsOf(session.id),
      toolCalls: tally.callsOf(session.id),
      denials: tally.denials,
      usage: tally.usage,
      durationMs: Math.max(0, clock.now() - startedAt),
    },
  };
}

/** Null for a tree that became quiet by itself. */
async function quietOrCut(
  session: Session,
  { clock, msLeft }: Pick<TreeRunInit, 'clock' | 'msLeft'>,
  stop: AbortSignal,
): Promise<CancelReason | null> {
  const cut = Promise.withResolvers<CancelReason>();
  const onStop = (): void => cut.resolve('signal');
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  const stopTimer = clock.after(msLeft(), () => cut.resolve('timeout'));
  try {
    const reason = await Promise.race([session.quiet().then(() => null), cut.promise]);
    const active = session.state.activeRun;
    // It may end by itself meanwhile, and its log may fail: either way it has an end.
    if (reason !== null && active !== null) await session.cancel(active.runId, reason).catch(() => undefined);
    return reason;
  } finally {
    stop.removeEventListener('abort', onStop);
    stopTimer();
  }
}

/** A tree that was cut off while only subagents worked was cancelled all the same. */
function cutShort(end: RunEnd, reason: CancelReason): RunEnd {
  return end.status === 'completed' ? { ...end, status: 'cancelled', reason } : end;
}
