import type { JsonObject, SessionId, ToolCompletion, ToolError, ToolErrorCode } from '@agentd/contract';
import type { ChildStatus } from './child-status.ts';
import type { DelegationEnd, DelegationRecord } from './delegation-record.ts';
import { endNotice, startNotice } from './notices.ts';

/** Which child a result is about (DLG-6). */
export interface ChildName {
  readonly sessionId: SessionId;
  readonly handle: string;
}

export function childMetadata({ sessionId, handle }: ChildName, status: ChildStatus): JsonObject {
  return { session_id: sessionId, handle, status };
}

/** A background call that was admitted. */
export function startCompletion({ childId, handle, phase }: DelegationRecord): ToolCompletion {
  return {
    output: { kind: 'single', text: startNotice(handle) },
    metadata: childMetadata({ sessionId: childId, handle }, phase === 'started' ? 'running' : 'queued'),
  };
}

/** A call that its child's end resolves: with that status and with what the child had (DLG-10). */
export function endCompletion({ childId, handle }: DelegationRecord, end: DelegationEnd): ToolCompletion {
  const error = endError(handle, end);
  return {
    output: { kind: 'single', text: endNotice(handle, end) },
    metadata: childMetadata({ sessionId: childId, handle }, end.status),
    ...(error === null ? {} : { error }),
  };
}

const CODES: Readonly<Record<Exclude<DelegationEnd['status'], 'completed'>, ToolErrorCode>> = {
  failed: 'execution_failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
};

function endError(handle: string, { status, error }: DelegationEnd): ToolError | null {
  if (status === 'completed') return null;
  const cause = error === null ? '' : `: ${error.code}: ${error.message}`;
  return {
    code: CODES[status],
    message: `the subagent ${handle} ${status === 'failed' ? 'failed' : `was ${status}`}${cause}; delegate_subagent with resume_session_id "${handle}" continues it`,
  };
}
