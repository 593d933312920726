import type { EventEnvelope, RecipientState, RunId } from '@agentd/contract';

const ENDS: ReadonlySet<string> = new Set([
  'run_completed',
  'run_failed',
  'run_cancelled',
  'run_interrupted',
]);

/** Follows which run is active, from the events of a log alone, so that it is the same after a restart. */
export class RunWatch {
  #active: RunId | null = null;
  #ran = false;

  get active(): RunId | null {
    return this.#active;
  }

  /** What a message meets that is accepted now (MSG-2). */
  get recipientState(): RecipientState {
    if (this.#active !== null) return 'running';
    return this.#ran ? 'waking_finished' : 'queued';
  }

  apply({ run_id: runId, payload }: EventEnvelope): void {
    if (payload.type === 'run_started' && runId !== null) {
      this.#active = runId;
      this.#ran = true;
    } else if (ENDS.has(payload.type) && runId === this.#active) {
      this.#active = null;
    }
  }
}
