import type {
  AttachmentBudget,
  Clock,
  EventEnvelope,
  Ids,
  ModelClient,
  ModelStreamPart,
  OutputLimits,
  OpenInbox,
  OpenProjection,
  OutputStore,
  PermissionEffect,
  PermissionRequest,
  PrepareContext,
  RunId,
  SessionHost,
  SessionId,
  SessionProjection,
  ToolCallId,
  ToolProvider,
  TreeKeeper,
} from '@agentd/contract';
import type { AgentDocument } from './agent-document.ts';
import type { ContextSettings } from './context/context-limits.ts';
import type { EngineEvent, EnginePayload, LoggedPayload } from './events.ts';
import type { ResidencyLimits } from './tree/residents.ts';
import type { RunDefaults } from './tree/run-defaults.ts';

/** Something odd that was met while a log was opened; the log opens all the same (SES-3). */
export interface LogDiagnostic {
  readonly kind: 'torn_tail' | 'malformed_line' | 'unknown_shape' | 'sequence_gap' | 'sequence_repeated';
  /** One-based line of the file. */
  readonly line: number;
  readonly message: string;
}

/** What a log held when it was read. */
export interface LogContent {
  /** In file order; unknown event types are kept as they are. */
  readonly events: readonly EventEnvelope[];
  readonly diagnostics: readonly LogDiagnostic[];
}

/**
 * Where one session's events are appended.
 * Contract: `append` gives the event its number and time at once and keeps the order of calls; `sync` resolves once
 * everything appended before it is on disk, and one disk sync serves all that wait (SES-2); after a failed write every
 * later `sync` rejects.
 */
export interface EventLog {
  readonly append: (payload: LoggedPayload, runId: RunId | null) => EngineEvent;
  readonly sync: () => Promise<void>;
  /** Writes and syncs what is left, and closes the file. Idempotent. */
  readonly close: () => Promise<void>;
}

/** A session that this process owns. */
export interface OwnedSession extends LogContent {
  readonly log: EventLog;
  /** Closes the log and lets the tree's lock go. */
  readonly release: () => Promise<void>;
}

/** One row of a listing. `damaged` says why a session cannot be opened. */
export interface SessionListing {
  readonly sessionId: SessionId;
  readonly updatedAt: number;
  readonly damaged: string | null;
}

/** Where sessions live. */
export interface SessionStore {
  /** Contract: takes the tree's lock before anything is written; the first event is on disk when this resolves (SES-4). */
  readonly create: (sessionId: SessionId, first: EnginePayload) => Promise<OwnedSession>;
  /**
   * Contract: throws `ENGINE_SESSION_NOT_FOUND`, `ENGINE_SESSION_LOCKED` (names the holder's pid and start time) or
   * `ENGINE_SESSION_DAMAGED` (no readable first event, SES-3).
   */
  readonly open: (sessionId: SessionId) => Promise<OwnedSession>;
  /** Reads without the lock and changes nothing (SES-4). Throws like `open`, `ENGINE_SESSION_LOCKED` excepted. */
  readonly read: (sessionId: SessionId) => Promise<LogContent>;
  /** Newest first; roots alone. */
  readonly list: () => Promise<readonly SessionListing[]>;
  /** The root of the session's tree, from where it is stored. Throws `ENGINE_SESSION_NOT_FOUND`. */
  readonly rootOf: (sessionId: SessionId) => Promise<SessionId>;
  /** The other sessions of a tree, in no order, damaged ones among them. Empty for a tree that does not exist. */
  readonly children: (rootId: SessionId) => Promise<readonly SessionId[]>;
}

/** Where the calls of a turn write. The session is the only implementation. */
export interface EventSink {
  readonly append: (payload: EnginePayload) => EngineEvent;
  readonly sync: () => Promise<void>;
}

/** What a question to the user says (PERM-7). */
export interface ApprovalQuestion {
  readonly approvalId: string;
  readonly callId: ToolCallId;
  readonly tool: string;
  readonly request: PermissionRequest;
  /** The rule that asks, e.g. `write: * = ask`. */
  readonly rule: string;
}

export interface ApprovalAnswer {
  readonly decision: 'once' | 'always' | 'reject' | 'expired' | 'cancelled';
  readonly source: 'user' | 'policy';
  readonly feedback: string | null;
}

/** Decides what rules leave open. Contract: settles when the signal aborts; never rejects otherwise. */
export interface Approver {
  readonly ask: (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;
}

/** Finds models. Contract: throws `ENGINE_MODEL_UNKNOWN` with the ways to get one. */
export interface ModelSource {
  readonly open: (model: string) => Promise<ModelClient>;
}

/** Finds agent documents. Contract: undefined for an unknown id. */
export interface AgentSource {
  readonly find: (id: string) => AgentDocument | undefined;
  readonly ids: () => readonly string[];
}

/** Reads what a workspace tells its agents. */
export interface WorkspaceNotes {
  /** The text of `AGENTS.md`, or of `CLAUDE.md` where there is none; null without either (CFG-1). */
  readonly load: (cwd: string) => Promise<{ readonly path: string; readonly text: string } | null>;
}

/** What is shown while it happens and never stored. */
export type LiveEvent =
  | {
      readonly type: 'tool_output';
      readonly tool_call_id: ToolCallId;
      readonly stream: string | null;
      /** UTF-8 bytes of this stream before `data`. */
      readonly offset: number;
      readonly data: string;
    }
  | { readonly type: 'tool_display'; readonly tool_call_id: ToolCallId; readonly text: string }
  | { readonly type: 'tool_message'; readonly tool_call_id: ToolCallId; readonly text: string }
  | { readonly type: 'model_delta'; readonly part: ModelStreamPart };

/** Contract: never throws and returns at once. */
export type LiveListener = (event: LiveEvent) => void;

export interface EngineSettings {
  readonly version: string;
  readonly outputLimits: OutputLimits;
  readonly retry: {
    /** Retries after the first attempt for rate limits and 5xx (`[model_retry] standard`). */
    readonly standard: number;
    /** The same for an overloaded provider. */
    readonly overload: number;
    readonly ceilingMs: number;
  };
  /** When room is made in the context of a model (SES-8); at 70 % unless given. */
  readonly context?: ContextSettings;
  /** `[delegation] max_resident_subagents` and `idle_eviction_after`; 20 and one hour unless given. */
  readonly residency?: ResidencyLimits;
}

/**
 * What packages that work on sessions add to an engine, made once of its own host.
 * Contract: does nothing with the host before a tree is open.
 */
export type Extend<Ledger extends SessionProjection> = (host: EngineHost<Ledger>) => Extension<Ledger>;

export interface Extension<Ledger extends SessionProjection = SessionProjection> {
  /** Published after the engine's other tools. */
  readonly tools: readonly ToolProvider[];
  /** Opens what delegation keeps of a session, whenever its log is opened. */
  readonly ledger?: OpenProjection<Ledger>;
  readonly keeper?: TreeKeeper;
}

/** The sessions of all trees that this engine has open, and what the rules say in them. */
export interface EngineHost<
  Ledger extends SessionProjection = SessionProjection,
> extends SessionHost<Ledger> {
  /** What the rules of a session say of a request now, without asking anybody; an unknown agent is denied all. */
  readonly verdict: (session: PrepareContext['session'], request: PermissionRequest) => PermissionEffect;
}

/** Everything that the engine asks of others. */
export interface EnginePorts<Ledger extends SessionProjection = SessionProjection> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sessions: SessionStore;
  readonly outputs: OutputStore;
  /** What a result may carry; without it every file that a tool returns is kept (MED-10). */
  readonly attachments?: AttachmentBudget;
  readonly models: ModelSource;
  readonly agents: AgentSource;
  readonly tools: readonly ToolProvider[];
  readonly notes: WorkspaceNotes;
  readonly approver: Approver;
  /** Messages of a session (MSG-10); without it nobody can be written to. */
  readonly inbox?: OpenInbox;
  readonly extend?: Extend<Ledger>;
  /** Models and limits of runs that no user starts; `ownModelsFirst` unless given. */
  readonly runDefaults?: RunDefaults;
  /** Told of a session whose messages wait because its run could not start. Contract: returns at once, never throws. */
  readonly cannotWake?: (sessionId: SessionId, error: unknown) => void;
}
