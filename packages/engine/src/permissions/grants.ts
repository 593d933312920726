import type { PermissionRequest } from '@agentd/contract';
import type { EnginePayload } from '../events.ts';

/** What the user has allowed for good. Contract: follows the log at once, also within a turn. */
export interface GrantView {
  readonly has: (request: PermissionRequest) => boolean;
}

/** What the answers in a log amount to: grants, and questions without an answer (PERM-7). */
export class ApprovalLedger implements GrantView {
  readonly #open = new Map<string, string>();
  readonly #granted = new Set<string>();

  /** Questions that have no answer yet, oldest first. */
  get open(): readonly string[] {
    return [...this.#open.keys()];
  }

  apply(payload: EnginePayload): void {
    if (payload.type === 'approval_requested') {
      this.#open.set(payload.approval_id, keyOf(payload));
    } else if (payload.type === 'approval_finalized') {
      const key = this.#open.get(payload.approval_id);
      this.#open.delete(payload.approval_id);
      if (payload.decision === 'always' && payload.source === 'user' && key !== undefined)
        this.#granted.add(key);
    }
  }

  has(request: PermissionRequest): boolean {
    return this.#granted.has(keyOf(request));
  }
}

function keyOf({ action, label }: { readonly action: string; readonly label: string }): string {
  return JSON.stringify([action, label]);
}
