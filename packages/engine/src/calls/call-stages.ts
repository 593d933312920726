import type {
  AssistantToolCall,
  CallOutcome,
  ExecuteContext,
  PermissionRequest,
  PreparedCall,
  Tool,
  ToolCallId,
  ToolCompletion,
  ToolError,
  ToolResultRecord,
} from '@agentd/contract';
import { callError } from './call-fault.ts';

/** How a call ended: what its terminal event says, and what is left to do afterwards. */
export interface CallEnd {
  readonly outcome: CallOutcome;
  readonly error: ToolError | null;
  /** Null where the call never had a result. */
  readonly result: ToolResultRecord | null;
  /** Lets the publication guard go, once the terminal event is on disk (ART-10). */
  readonly release: (() => Promise<void>) | null;
}

/** What a tool prepared, taken down at preparation, so that nothing that happens later can exchange it (PERM-7). */
export interface PreparedOperation {
  readonly permission: PermissionRequest;
  readonly standsFor: PreparedCall['standsFor'] | null;
  readonly operationSha256: string;
  /** Whether the operation still is what it was. */
  readonly isUnchanged: () => boolean;
  readonly serializationKey: string | null;
  readonly revalidate: (signal: AbortSignal) => Promise<void>;
  readonly execute: (context: ExecuteContext, signal: AbortSignal) => Promise<ToolCompletion>;
  readonly dispose: () => Promise<void>;
}

interface TurnCall {
  readonly callId: ToolCallId;
  readonly call: AssistantToolCall;
}

/** A call that can run. */
export interface ReadyCall extends TurnCall {
  readonly stage: 'ready';
  readonly tool: Tool;
  readonly operation: PreparedOperation;
}

/** A call that ended before it ran. */
export interface SettledCall extends TurnCall {
  readonly stage: 'settled';
  /** Null where the name is not published. */
  readonly tool: Tool | null;
  /** Null where preparation failed. */
  readonly operation: PreparedOperation | null;
  readonly end: CallEnd;
}

export type StagedCall = ReadyCall | SettledCall;

export const EMPTY_RESULT: ToolResultRecord = {
  text: '',
  metadata: {},
  display: '',
  attachments: [],
  retained_output: null,
};

/** An end without any result. */
export function bareEnd(error: ToolError): CallEnd {
  return {
    outcome: error.code === 'cancelled' ? 'cancelled' : 'failed',
    error,
    result: null,
    release: null,
  };
}

/** The end of a call that a cancellation overtook (SCH-10). */
export function cancelledEnd(message: string): CallEnd {
  return bareEnd(callError('cancelled', message));
}

export const NOT_STARTED = 'the run was cancelled before this call started';
