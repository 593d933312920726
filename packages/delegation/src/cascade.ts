import type { RunId, SessionFacts, SessionId } from '@agentd/contract';
import type { DelegationLedger } from './ledger.ts';

/**
 * The children that a run has started or resumed, and that no other run has given anything to do since: what is left of
 * the run's work is below them, also where they have ended themselves (DLG-10).
 */
export function childrenOfRun(ledger: DelegationLedger, runId: RunId): readonly SessionId[] {
  const others = ledger.unfinished.filter(({ parentRunId }) => parentRunId !== runId);
  const kept = new Set(others.map(({ childId }) => childId));
  const own = [...ledger.finished, ...ledger.unfinished].filter(({ parentRunId }) => parentRunId === runId);
  return [...new Set(own.map(({ childId }) => childId))].filter((id) => !kept.has(id));
}

/** These sessions of a tree and everybody below them. */
export function withDescendants(
  tree: readonly SessionFacts[],
  ids: readonly SessionId[],
): ReadonlySet<SessionId> {
  const found = new Set(ids);
  // A clock that was set back lets a child seem older than its parent, so that the order of a tree proves nothing.
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { sessionId, parentId } of tree)
      if (parentId !== null && found.has(parentId)) found.add(sessionId);
  }
  return found;
}
