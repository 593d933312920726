import type { SessionId } from '@agentd/contract';
import { UsageLedger, type EngineEvent, type UsageTotals } from '@agentd/engine';

/** What the sessions of a tree did while a command watched: counts of one root, sums of all (CLI-5, SES-10). */
export class TreeTally {
  readonly #usage = new UsageLedger();
  readonly #turns = new Map<SessionId, number>();
  readonly #calls = new Map<SessionId, number>();
  #denials = 0;

  event({ session_id: id, payload }: EngineEvent): void {
    switch (payload.type) {
      case 'model_usage_recorded':
        return this.#usage.add(payload);
      case 'model_turn_committed':
        return addOne(this.#turns, id);
      case 'tool_call_started':
        return addOne(this.#calls, id);
      case 'tool_call_terminated':
        if (payload.error?.code === 'permission_denied') this.#denials += 1;
        return;
      default:
    }
  }

  /** Of the whole tree. */
  get usage(): UsageTotals {
    return this.#usage.totals;
  }

  /** Of the whole tree. */
  get denials(): number {
    return this.#denials;
  }

  turnsOf(sessionId: SessionId): number {
    return this.#turns.get(sessionId) ?? 0;
  }

  callsOf(sessionId: SessionId): number {
    return this.#calls.get(sessionId) ?? 0;
  }
}

function addOne(counts: Map<SessionId, number>, id: SessionId): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}
