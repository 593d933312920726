import type { EventEnvelope } from './events.ts';
import type { RunId, SessionId, ToolCallId } from './ids.ts';
import type { Inbox, InboxInit, InboxLog } from './inbox.ts';
import type { SubagentCandidate } from './subagent-reference.ts';

/**
 * What a package keeps of a session beside the engine: a view of its log.
 * Contract: `apply` is called with every event of the log, in order, returns at once and never throws; an event that
 * was applied before changes nothing.
 */
export interface SessionProjection {
  readonly apply: (event: EventEnvelope) => void;
}

/** Contract: rebuilds the view from the events, whatever they are, and writes nothing. */
export type OpenProjection<Projection extends SessionProjection> = (init: ProjectionInit) => Projection;

export interface ProjectionInit extends InboxInit {
  readonly sessionId: SessionId;
}

/** How a run stands or ended; `idle` is a session without a run so far. */
export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
export type SessionStatus = RunStatus | 'idle';

/** What is stored of a session and where its newest run stands. */
export interface SessionFacts extends SubagentCandidate {
  readonly status: SessionStatus;
  /** The root of its tree; its own id for a root. */
  readonly rootId: SessionId;
  /** From its stored origin; null for a root. */
  readonly parentId: SessionId | null;
  readonly agent: string;
  /** Absolute working directory. */
  readonly cwd: string;
  /** 0 for a root. */
  readonly depth: number;
}

/** Why and by whom a session was made; stored in its first event (EVT-2). */
export interface SessionOrigin {
  readonly rootId: SessionId;
  readonly parentId: SessionId;
  readonly parentRunId: RunId;
  readonly toolCallId: ToolCallId;
  readonly invocationId: string;
  readonly depth: number;
}

export interface ChildInit {
  /** Chosen and reserved by the caller before, so that a repeated creation meets the same session (DLG-11). */
  readonly sessionId: SessionId;
  readonly handle: string;
  readonly agent: string;
  readonly title: string;
  readonly origin: SessionOrigin;
}

export interface ChildRunInit {
  /** The same one is the same run, over crashes too. */
  readonly clientRunId: string;
  readonly input: string;
  /** Gives up waiting for the end of an active run; without effect once the run has started. */
  readonly signal?: AbortSignal;
}

/** The newest run of a session. */
export interface SessionRun {
  readonly runId: RunId;
  readonly status: RunStatus;
  /** Text of the newest turn of this run. */
  readonly text: string;
  /** What went wrong, of a failed run. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface StartedChildRun {
  readonly runId: RunId;
  /** Never rejects. Resolves once the run's end is on disk; for a run that ended before, at once. */
  readonly done: Promise<SessionRun>;
}

/** A session that is in memory for a piece of work. */
export interface HeldSession<Ledger extends SessionProjection = SessionProjection> {
  readonly facts: SessionFacts;
  readonly log: InboxLog;
  readonly inbox: Inbox;
  /** What delegation keeps of this session. */
  readonly ledger: Ledger;
}

/**
 * The sessions of a tree, for packages that make, run and look at them.
 * A session counts while it exists and is not reverted, ended ones included.
 */
export interface SessionHost<Ledger extends SessionProjection = SessionProjection> {
  /** A session of any tree of the project; null where no session has this id. */
  readonly find: (sessionId: SessionId) => Promise<SessionFacts | null>;
  /** All sessions of one tree, the root first, then in order of creation. */
  readonly tree: (rootId: SessionId) => Promise<readonly SessionFacts[]>;
  /**
   * Contract: hands out the one live session, loaded from its log first where it is not in memory, and keeps it there
   * until `work` has settled; rejects, before `work` began, for a session that does not exist and once a shutdown has
   * begun.
   */
  readonly use: <Value>(
    sessionId: SessionId,
    work: (held: HeldSession<Ledger>) => Promise<Value>,
  ) => Promise<Value>;
  /** Contract: on disk when it resolves; an existing session with this id is left as it is and returned. */
  readonly createChild: (init: ChildInit) => Promise<SessionFacts>;
  /**
   * Starts a run with the trigger `delegation`, waiting for the end of an active one first.
   * Contract: the start is on disk when it resolves; rejects with what kept it from starting, and has then written
   * nothing. A run with this `clientRunId` that exists is returned at once, whatever else is active; one that a crash
   * ended is `interrupted` by then.
   */
  readonly startRun: (sessionId: SessionId, init: ChildRunInit) => Promise<StartedChildRun>;
  /** The run with this `clientRunId`, or the newest one; null without any. Reads the log where the session is paged out. */
  readonly run: (sessionId: SessionId, clientRunId?: string) => Promise<SessionRun | null>;
  /**
   * Cancels the active run (`parent`); where `runId` is given, only if it is that one.
   * Contract: its terminal event is on disk when it resolves; does nothing where no such run is active.
   */
  readonly cancelRun: (sessionId: SessionId, runId?: RunId) => Promise<void>;
  /** User and assistant text, the newest `maxBytes` of it, oldest first; for `inherit_context` (DLG-12). */
  readonly conversation: (sessionId: SessionId, maxBytes: number) => Promise<string>;
  /** Contract: returns at once and never throws; a session with waiting messages and without a run gets one (MSG-3), later with its first prompt where that is on its way. */
  readonly wake: (sessionId: SessionId) => void;
  /** Aborts when the engine begins to stop. */
  readonly shutdown: AbortSignal;
}

/**
 * What a package that starts runs through a host owes the engine, which asks it where it cannot see for itself.
 */
export interface TreeKeeper {
  /**
   * The sessions of a tree were recovered and may go on; waiting messages are woken afterwards.
   * Contract: takes up what a crash or a stop left (SES-6, DLG-11), resolves without waiting for the runs that it
   * starts, and never rejects.
   */
  readonly treeOpened: (rootId: SessionId) => Promise<void>;
  /**
   * For who waits until a tree is quiet (CLI-4).
   * Contract: resolves once nothing in this tree is queued, running in the background or on its way to its parent, at
   * once where nothing is; its wakes were asked for by then; never rejects.
   */
  readonly settled: (rootId: SessionId) => Promise<void>;
  /**
   * Whether a prompt for this session is on its way, be it in a queue: one that has never run reads its messages in the
   * run of that prompt, and is not woken before (DLG-9).
   * Contract: answers at once.
   */
  readonly awaitsPrompt: (sessionId: SessionId) => boolean;
}
