import type { EventEnvelope, EventPayload, InboxLog, SessionId } from '@agentd/contract';

/** A log in memory, with the disk in the test's hands. */
export interface MemoryLog extends InboxLog {
  /** Everything that was appended. */
  readonly events: readonly EventEnvelope[];
  /** What a crash would leave. */
  readonly synced: () => readonly EventEnvelope[];
  /** From now on syncs wait for `release`. */
  readonly holdSyncs: () => { readonly release: () => void };
  /** From now on syncs fail. */
  readonly failSyncs: () => void;
}

export function memoryLog(sessionId: SessionId, earlier: readonly EventEnvelope[] = []): MemoryLog {
  const events: EventEnvelope[] = [...earlier];
  const disk = { through: earlier.length, failing: false, gate: Promise.resolve() };
  return {
    events,
    append: (payload, runId) => {
      const event = envelope({ sessionId, seq: (events.at(-1)?.seq ?? 0) + 1, runId, payload });
      events.push(event);
      return event;
    },
    sync: async () => {
      const through = events.length;
      await disk.gate;
      if (disk.failing) throw new Error('the disk is full');
      disk.through = Math.max(disk.through, through);
    },
    synced: () => events.slice(0, disk.through),
    holdSyncs: () => {
      const held = Promise.withResolvers<void>();
      disk.gate = held.promise;
      return { release: () => held.resolve() };
    },
    failSyncs: () => {
      disk.failing = true;
    },
  };
}

function envelope({
  sessionId,
  seq,
  runId,
  payload,
}: {
  readonly sessionId: SessionId;
  readonly seq: number;
  readonly runId: string | null;
  readonly payload: EventPayload;
}): EventEnvelope {
  return {
    seq,
    session_id: sessionId,
    run_id: runId,
    timestamp: new Date(Date.UTC(2026, 0, 1) + seq).toISOString(),
    engine_version: 'memory',
    payload: structuredClone(payload),
  };
}
