import type { CallReport, SessionId, ToolCallId, ToolDefinition } from '@agentd/contract';
import type { PermissionRule } from './agent-document.ts';
import type { PermissionMode } from './events.ts';
import type { LogDiagnostic } from './ports.ts';
import type { RunEnd } from './run-end.ts';
import type { CancelReason } from './run-loop.ts';
import type { SessionState } from './session-state.ts';

export interface RunInit {
  /** The caller's own name of the run: the same one is the same run, also after a crash. */
  readonly clientRunId: string;
  /** What the user says; not blank. */
  readonly input: string;
  /** An agent document's id; the session's own agent unless given. */
  readonly agent?: string;
  /** `provider/model`, a fallback chain in order (SES-9). */
  readonly models: readonly string[];
  /** Model turns. */
  readonly maxTurns: number;
  readonly timeoutMs: number;
  /** Somebody can send input to interactive calls (`toolStdin`); false unless given. */
  readonly acceptsStdin?: boolean;
}

export interface StartedRun {
  readonly runId: string;
  /** The `clientRunId` was known: nothing was started, and this is the earlier run. */
  readonly existing: boolean;
  /** Never rejects. Resolves once the terminal event is on disk; a log that cannot be written ends it as failed. */
  readonly done: Promise<RunEnd>;
}

export interface HandCallInit {
  readonly clientRunId: string;
  readonly tool: string;
  /** JSON text; what is no JSON object ends the call as `invalid_arguments`. */
  readonly args: string;
  readonly agent?: string;
}

/** An open session. Its tree is locked by this process until `close`. */
export interface Session {
  readonly id: SessionId;
  /** `<agent>_<8 hex>` */
  readonly handle: string;
  /** Follows every event, on disk or not yet. Read only. */
  readonly state: SessionState;
  /** How the newest run ended, be it that the log could not take its end; null while it is active, and without any. */
  readonly newestEnd: RunEnd | null;
  /** What was odd about the log when it was opened (SES-3). */
  readonly diagnostics: readonly LogDiagnostic[];
  /** Mode and overlay of the whole tree (PERM-6). */
  readonly mode: PermissionMode;
  readonly overlay: readonly PermissionRule[];
  /** For the whole tree. Resolves once it is on disk. */
  readonly setMode: (mode: PermissionMode) => Promise<void>;
  /** Replaces the overlay of the tree. It decides from the next turn's calls on, and what is published from the next run on. */
  readonly setOverlay: (rules: readonly PermissionRule[]) => Promise<void>;
  /**
   * Resolves once the start and the input are on disk (SES-2). Throws `ENGINE_RUN_ACTIVE` beside another run,
   * `ENGINE_AGENT_UNKNOWN`, `ENGINE_MODEL_UNKNOWN` or `ENGINE_INPUT_EMPTY`, and has then written nothing.
   */
  readonly startRun: (init: RunInit) => Promise<StartedRun>;
  /** One call by hand: a run with this one call and no model (CLI-6). Models do not see it. */
  readonly callTool: (init: HandCallInit, signal: AbortSignal) => Promise<CallReport>;
  /** What a run of this agent would publish to a model that can call tools. */
  readonly publishedTools: (agent?: string) => Promise<readonly ToolDefinition[]>;
  /** Says something to the running run. Resolves once it is on disk; it enters at the next boundary. */
  readonly steer: (runId: string, text: string) => Promise<{ readonly inputId: string }>;
  /** Input for an interactive call; false where it takes none (BASH-3). Resolves once the tool has taken it. */
  readonly toolStdin: (runId: string, input: StdinInput) => Promise<boolean>;
  /** Resolves once the terminal event is on disk; at once for the last run when it has ended. */
  readonly cancel: (runId: string, reason: CancelReason) => Promise<void>;
  /**
   * Lets the session's tree go on after it was opened: what was queued or delegated, then what messages wait for
   * (SES-6). Resolves once that is under way; a second time it does nothing.
   */
  readonly resume: () => Promise<void>;
  /** Resolves once the tree is quiet: no run active, nothing delegated under way, no message that can wake (CLI-4). */
  readonly quiet: () => Promise<void>;
  /**
   * The last one that a caller has open in its tree ends the tree: cancels what runs (`signal`), closes the logs and
   * lets the lock go. Idempotent. Rejects where the last events could not be written and nobody was told so yet.
   */
  readonly close: () => Promise<void>;
}

export interface StdinInput {
  readonly callId: ToolCallId;
  readonly data: Uint8Array | null;
  readonly eof: boolean;
}
