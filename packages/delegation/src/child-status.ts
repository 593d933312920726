import type { SessionStatus } from '@agentd/contract';
import type { DelegationRecord } from './delegation-record.ts';

/** The statuses of DLG-8. */
export type ChildStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';

/**
 * Where a child stands: its own newest run counts, whoever started it (DLG-7), before it the prompt that it was given
 * last and has not begun.
 */
export function childStatus(session: SessionStatus, newest: DelegationRecord | null): ChildStatus {
  if (session === 'running') return 'running';
  if (newest !== null && newest.end === null) return newest.phase === 'started' ? 'running' : 'queued';
  if (session !== 'idle') return session;
  return newest?.end?.status ?? 'queued';
}
