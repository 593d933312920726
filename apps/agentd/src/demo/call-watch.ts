import type { EngineEvent, LiveEvent } from '@agentd/engine';

type Terminated = Extract<EngineEvent['payload'], { type: 'tool_call_terminated' }>;

/** One call as it was seen from outside; times are in ms since the watch began. */
export interface WatchedCall {
  readonly id: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly label: string | null;
  /** When its first output came; null for a call without any. */
  firstOutputAt: number | null;
  endedAt: number | null;
  end: Terminated | null;
  /** Lines of live output that were shown. */
  linesShown: number;
}

/** Follows the calls of a tree, in the order in which they started. */
export class CallWatch {
  readonly #calls = new Map<string, WatchedCall>();
  readonly #now: () => number;
  readonly #startedAt: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  get all(): readonly WatchedCall[] {
    return [...this.#calls.values()];
  }

  find(id: string): WatchedCall | undefined {
    return this.#calls.get(id);
  }

  event({ session_id: sessionId, payload }: EngineEvent): void {
    if (payload.type === 'tool_call_started') {
      const { tool_call_id: id, tool, label } = payload;
      const unseen = { firstOutputAt: null, endedAt: null, end: null, linesShown: 0 };
      this.#calls.set(id, { id, sessionId, tool, label, ...unseen });
    }
    if (payload.type !== 'tool_call_terminated') return;
    const call = this.#calls.get(payload.tool_call_id);
    if (call === undefined) return;
    call.end = payload;
    call.endedAt = this.#elapsed();
  }

  live(event: LiveEvent): void {
    const call = event.type === 'tool_output' ? this.#calls.get(event.tool_call_id) : undefined;
    if (call !== undefined) call.firstOutputAt ??= this.#elapsed();
  }

  #elapsed(): number {
    return this.#now() - this.#startedAt;
  }
}

/** How long two calls ran at the same time, in ms, as far as their output tells; one that still runs has no end yet. */
export function overlapMs(first: WatchedCall, second: WatchedCall): number {
  const start = Math.max(first.firstOutputAt ?? Infinity, second.firstOutputAt ?? Infinity);
  const end = Math.min(first.endedAt ?? Infinity, second.endedAt ?? Infinity);
  return Number.isFinite(end) ? Math.max(0, end - start) : 0;
}
