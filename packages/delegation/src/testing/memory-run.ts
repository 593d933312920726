import {
  codeOf,
  messageOf,
  type EventPayload,
  type JsonObject,
  type RunId,
  type SessionFacts,
  type SessionRun,
  type Tool,
} from '@agentd/contract';

/** A run of a session, as its loop sees it. */
export interface MemoryRun {
  readonly facts: SessionFacts;
  readonly runId: RunId;
  /** The prompt, or the messages that woke the session. */
  readonly input: string;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Commits a turn. */
  readonly say: (text: string) => void;
  /** Makes a call of a tool of delegation, as an engine does. */
  readonly call: (tool: string, args: unknown, callId?: string) => Promise<MemoryCall>;
}

/** How a call ended, as a model would read it. */
export interface MemoryCall {
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly text: string;
  readonly metadata: JsonObject;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Plays an agent: what it returns is its answer, what it throws makes its run fail. */
export type MemoryLoop = (run: MemoryRun) => Promise<string>;

export interface CallOptions {
  readonly args: unknown;
  readonly callId?: string;
}

/** A run that has not ended. */
export interface ActiveRun {
  readonly runId: RunId;
  readonly cancelling: AbortController;
  readonly calls: Set<Promise<unknown>>;
  readonly outcome: PromiseWithResolvers<string>;
  readonly done: Promise<SessionRun>;
  /** Fixed for the run, once it makes a call. */
  tools: Promise<readonly Tool[]> | null;
}

/** The event that ends a run: its outcome, or its cancelling, whichever comes first. */
export async function endOf({ outcome, cancelling: { signal } }: ActiveRun): Promise<EventPayload> {
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => aborted.reject(new Error('cancelled')), { once: true });
  try {
    return { type: 'run_completed', final_text: await Promise.race([outcome.promise, aborted.promise]) };
  } catch (error) {
    if (signal.aborted) return { type: 'run_cancelled', reason: 'parent' };
    return { type: 'run_failed', error: { code: codeOf(error) ?? 'model_error', message: messageOf(error) } };
  }
}
