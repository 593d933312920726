import type { RetainedOutput, OutputChunk, OutputDeclaration } from './output.ts';
import type { AttachedFile, Attachment } from './media.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ModelInfo } from './model.ts';
import type { PermissionAction, PermissionRequest } from './permission.ts';
import type { RunId, SessionId, ToolCallId } from './ids.ts';
import type { ToolError } from './tool-error.ts';

/** What the engine knows of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema in the subset of ARG-4; within it, tools of MCP servers may have `anyOf` (MCP-5). */
  readonly parameters: JsonObject;
  readonly action: PermissionAction;
  /** SCH-1, SCH-2. */
  readonly concurrency: 'parallel' | 'exclusive';
  readonly output: OutputDeclaration;
  /** `opt_out`: the tool pages itself; its single output comes back whole and is not retained (OUT-17). */
  readonly truncation: 'bounded' | 'opt_out';
  /** Where the tool comes from; only builtin tools may opt out or, as plugins, overlap (OUT-18). */
  readonly origin: 'builtin' | 'mcp' | 'plugin';
}

/** What a tool may know of the call while it prepares. Read-only; nothing else is reachable from it. */
export interface PrepareContext {
  readonly callId: ToolCallId;
  readonly session: {
    readonly id: SessionId;
    /** Absolute working directory; relative paths start there (FS-11). */
    readonly cwd: string;
    readonly agent: string;
  };
  /** The identity of the model turn: the same object for all calls of one turn (SCH-5, FS-15). */
  readonly turn: object;
  /** The model that made the call; null for a call by hand (MED-2). */
  readonly model: ModelInfo | null;
}

/** What a running call may use. */
export interface ExecuteContext {
  readonly callId: ToolCallId;
  /**
   * Hands text to the runtime. Await it: it resolves when the text is accepted (OUT-12), and rejects with a tool
   * error when a bound of OUT-8 or OUT-9 is passed.
   */
  readonly report: (progress: ToolProgress) => Promise<void>;
  /** Input for an interactive call; null means that nobody can send any. */
  readonly stdin: AsyncIterable<Uint8Array> | null;
}

/** At most 8 chunks and 64 KiB of text together (OUT-8); `message` and `display` at most 1 KiB each (OUT-9). */
export interface ToolProgress {
  readonly chunks?: readonly OutputChunk[];
  readonly message?: string;
  readonly display?: string;
}

/** Output at completion: given once, or already streamed (OUT-10). */
export type CompletionOutput =
  | { readonly kind: 'single'; readonly text: string }
  | { readonly kind: 'named'; readonly streams: Readonly<Record<string, string>> }
  | { readonly kind: 'streamed' };

export interface ToolCompletion {
  readonly output: CompletionOutput;
  /** Present when the call failed although it has a result; the runtime then ends it as `failed`. */
  readonly error?: ToolError;
  readonly metadata?: JsonObject;
  /** One last line for the model after all streams, outside every preview (BASH-5). */
  readonly closingLine?: string;
  /** For people only; at most 64 KiB (OUT-9). */
  readonly display?: string;
  /** Files for the model, as a `MediaGate` admitted them; the runtime stores them (FS-12, MED-10). */
  readonly attachments?: readonly AttachedFile[];
}

/** A call that is validated and resolved, and has had no effect yet. */
export interface PreparedCall {
  readonly permission: PermissionRequest;
  /** What an approval binds to: the normalized arguments and the identity of the target (PERM-7). */
  readonly operation: JsonValue;
  /**
   * The call that this one stands for, where a tool calls another by its name: people and the log see that one (`tool`
   * and `args` of `tool_call_started`), the history keeps what the model called. For tools of origin `mcp` only.
   */
  readonly standsFor?: { readonly tool: string; readonly args: JsonValue };
  /** Calls with equal keys never run at the same time (SCH-4). */
  readonly serializationKey?: string;
  /** Checks the target again just before execution. Contract: throws a tool error `stale` when it changed (FS-6). */
  readonly revalidate?: (signal: AbortSignal) => Promise<void>;
  /** Contract: settles soon after the signal aborts; throws tool errors for expected failures. */
  readonly execute: (context: ExecuteContext, signal: AbortSignal) => Promise<ToolCompletion>;
  /** Frees what preparation holds. Called once at the end, executed or not. */
  readonly dispose?: () => Promise<void>;
}

export interface Tool {
  readonly spec: ToolSpec;
  /** Contract: validates and resolves without any effect; throws a tool error for what a model can repair (ARG-2, ARG-3). */
  readonly prepare: (args: unknown, context: PrepareContext, signal: AbortSignal) => Promise<PreparedCall>;
}

/** Tools that belong together, and what the system prompt should say of them. */
export interface ToolProvider {
  /** Stable, e.g. `builtin.tools`; names the section of the prompt. */
  readonly id: string;
  /** Contract: called once for each run; the set then stands for that run, unless there is `refresh`. */
  readonly tools: (session: PrepareContext['session']) => Promise<readonly Tool[]>;
  /**
   * The set as it stands now, for tools that come and go while a run is under way (MCP-1, MCP-4). Asked before each
   * request to a model. Contract: settles soon, never rejects, and gives the same array while nothing has changed.
   */
  readonly refresh?: (session: PrepareContext['session']) => Promise<readonly Tool[]>;
  readonly promptSection?: (session: PrepareContext['session']) => Promise<string | null>;
}

export type CallOutcome = 'completed' | 'failed' | 'cancelled' | 'interrupted';

/** What a terminal event stores of a call's result (EVT-2, ART-17). */
export interface ToolResultRecord {
  /** The output as the model sees it, without error line and `next_offset`. */
  readonly text: string;
  readonly metadata: JsonObject;
  readonly display: string;
  readonly attachments: readonly Attachment[];
  readonly retained_output: RetainedOutput | null;
}

/** One call as CLI-6 prints it. */
export interface CallReport extends ToolResultRecord {
  readonly outcome: CallOutcome;
  readonly error: ToolError | null;
  readonly session_id: SessionId;
  readonly run_id: RunId;
  readonly tool_call_id: ToolCallId;
}
