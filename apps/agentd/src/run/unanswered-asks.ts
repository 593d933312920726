import type { EngineEvent } from '@agentd/engine';

/** Asks that were refused because nobody could answer, and what would have let them pass. */
export class UnansweredAsks {
  /** Action by approval id. */
  readonly #open = new Map<string, string>();
  readonly #actions = new Set<string>();

  event({ payload }: EngineEvent): void {
    if (payload.type === 'approval_requested') this.#open.set(payload.approval_id, payload.action);
    if (payload.type !== 'approval_finalized') return;
    const { approval_id: id, decision, source } = payload;
    const action = this.#open.get(id);
    if (action !== undefined && decision === 'reject' && source === 'policy') this.#actions.add(action);
    this.#open.delete(id);
  }

  /** Null when there was no such ask. */
  advice(): string | null {
    if (this.#actions.size === 0) return null;
    const flags = [...this.#actions].map((action) => `--allow ${action}`).join(' ');
    return `nobody could be asked (${flags}, or --mode yolo, answers beforehand)`;
  }
}
