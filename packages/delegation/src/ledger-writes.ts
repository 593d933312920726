import type { HeldSession } from '@agentd/contract';
import type { DelegationRecord } from './delegation-record.ts';
import type { DelegationEvent, DelegationEventOf } from './events.ts';
import type { DelegationLedger } from './ledger.ts';
import { inboxNotice } from './notices.ts';

/** A session that delegates, as the host hands it out. */
export type Held = HeldSession<DelegationLedger>;

/** Belongs to the run that delegates. */
export function writeReservation(held: Held, payload: DelegationEventOf<'delegation_reserved'>): void {
  append(held, payload);
}

export function write(
  held: Held,
  type: 'delegation_started' | 'delegation_queued',
  invocationId: string,
): void {
  append(held, { type, invocation_id: invocationId });
}

export function writeEnd(held: Held, { invocationId, end }: DelegationRecord): void {
  if (end !== null) append(held, { type: 'delegation_finished', invocation_id: invocationId, ...end });
}

/** Puts a result into the parent's inbox; a second time changes nothing. Tells whether it was the first. */
export function tell({ inbox }: Held, record: DelegationRecord): boolean {
  if (record.end === null) return false;
  const { existing } = inbox.accept({
    owner: 'delegation',
    from: record.handle,
    mode: 'steer',
    idempotencyKey: `delegation:${record.invocationId}`,
    body: inboxNotice(record, record.end),
  });
  return !existing;
}

function append({ log, ledger }: Held, payload: DelegationEvent): void {
  // All but the reservation belong to no run: a child may outlive the one that started it.
  const runId = payload.type === 'delegation_reserved' ? payload.parent_run_id : null;
  // A log that shows its events to the ledger itself has done so by the time `append` returns.
  ledger.apply(log.append(payload, runId));
}
