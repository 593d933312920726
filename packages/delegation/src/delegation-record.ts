import type { RunId, SessionId, ToolCallId } from '@agentd/contract';
import type { DelegationEventOf } from './events.ts';

/** reserved → queued → started → finished; each may be skipped but the first and the last. */
export type DelegationPhase = 'reserved' | 'queued' | 'started' | 'finished';

type Finished = DelegationEventOf<'delegation_finished'>;

/** How a delegation ended, as its parent may be told. */
export interface DelegationEnd {
  readonly status: Finished['status'];
  readonly preview: string;
  /** Of the whole text. */
  readonly lines: number;
  readonly truncated: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly delivery: Finished['delivery'];
}

/** One prompt that a session gave to a child of its own. */
export interface DelegationRecord {
  /** Made of the parent's session, run and call: a repeated call meets the same record (DLG-11). */
  readonly invocationId: string;
  readonly childId: SessionId;
  readonly handle: string;
  readonly agent: string;
  readonly title: string;
  /** Empty once it has finished, as `inherited` is null then: nobody needs them any more. */
  readonly prompt: string;
  readonly inherited: string | null;
  readonly background: boolean;
  readonly resumes: boolean;
  readonly parentRunId: RunId;
  readonly toolCallId: ToolCallId;
  readonly phase: DelegationPhase;
  /** Present once it has finished. */
  readonly end: DelegationEnd | null;
  /** A crash ended the call that waited for the result, so it has to come another way (DLG-11). */
  readonly callLost: boolean;
}
