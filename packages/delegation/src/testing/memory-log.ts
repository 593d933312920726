import type { EventEnvelope, InboxLog, SessionId } from '@agentd/contract';

/** A log in memory, with the disk in the test's hands. */
export interface MemoryLog extends InboxLog {
  /** Everything that was appended. */
  readonly events: readonly EventEnvelope[];
  /** How many of them a crash would leave for certain. */
  readonly synced: () => number;
  /** From now on syncs wait for `release`. */
  readonly holdSyncs: () => { readonly release: () => void };
  /** From now on syncs fail. */
  readonly failSyncs: () => void;
}

export interface MemoryLogInit {
  readonly sessionId: SessionId;
  readonly earlier?: readonly EventEnvelope[];
  /** Sees every event right after it was appended. */
  readonly onAppend?: (event: EventEnvelope) => void;
}

export function memoryLog({ sessionId, earlier = [], onAppend }: MemoryLogInit): MemoryLog {
  const events: EventEnvelope[] = [...earlier];
  const disk = { through: earlier.length, failing: false, gate: Promise.resolve() };
  return {
    events,
    append: (payload, runId) => {
      const seq = (events.at(-1)?.seq ?? 0) + 1;
      const event: EventEnvelope = {
        seq,
        session_id: sessionId,
        run_id: runId,
        timestamp: new Date(Date.UTC(2026, 0, 1) + seq).toISOString(),
        engine_version: 'memory',
        payload: structuredClone(payload),
      };
      events.push(event);
      onAppend?.(event);
      return event;
    },
    sync: async () => {
      const through = events.length;
      await disk.gate;
      if (disk.failing) throw new Error('the disk is full');
      disk.through = Math.max(disk.through, through);
    },
    synced: () => disk.through,
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
