import type { EventEnvelope, SessionId } from '@agentd/contract';
import { engineError } from '../errors.ts';
import type { EngineEvent, EnginePayload } from '../events.ts';
import type { EventLog, SessionStore } from '../ports.ts';

/** Sessions in memory, with the disk in the test's hands: for tests in which files are not the point. */
export interface MemorySessionStore extends SessionStore {
  /** What is on the disk. */
  readonly synced: (sessionId: SessionId) => readonly EngineEvent[];
  /** What was appended, on the disk or not. */
  readonly appended: (sessionId: SessionId) => readonly EngineEvent[];
  /** From now on syncs wait for `release`. */
  readonly holdSyncs: () => { readonly release: () => void };
  /** From now on syncs fail. */
  readonly failSyncs: () => void;
  readonly isOpen: (sessionId: SessionId) => boolean;
  /** What a crash now would leave if everything had reached the disk. */
  readonly crashed: () => MemorySessionStore;
}

interface Stored {
  readonly events: EngineEvent[];
  synced: number;
  open: boolean;
}

export function memorySessionStore(
  now: () => number,
  stored: readonly (readonly [SessionId, readonly EngineEvent[]])[] = [],
): MemorySessionStore {
  const sessions = new Map<SessionId, Stored>(
    stored.map(([id, events]) => [id, { events: [...events], synced: events.length, open: false }]),
  );
  let gate: Promise<void> = Promise.resolve();
  let failing = false;

  const logOf = (sessionId: SessionId, stored: Stored): EventLog => ({
    append: (payload, runId) => {
      const event: EngineEvent = {
        seq: stored.events.length + 1,
        session_id: sessionId,
        run_id: runId,
        timestamp: new Date(now()).toISOString(),
        engine_version: 'test',
        payload: structuredClone(payload) as EnginePayload,
      };
      stored.events.push(event);
      return event;
    },
    sync: async () => {
      const through = stored.events.length;
      await gate;
      if (failing) throw engineError('ENGINE_LOG_FAILED', 'the disk is full');
      stored.synced = Math.max(stored.synced, through);
    },
    close: async () => undefined,
  });

  const storedOf = (sessionId: SessionId): Stored => {
    const stored = sessions.get(sessionId);
    if (stored === undefined)
      throw engineError('ENGINE_SESSION_NOT_FOUND', `there is no session ${sessionId}`);
    return stored;
  };
  const own = (sessionId: SessionId, stored: Stored) => {
    if (stored.open) throw engineError('ENGINE_SESSION_LOCKED', 'it is open already');
    stored.open = true;
    const release = async (): Promise<void> => void (stored.open = false);
    const events = [...stored.events] as readonly EventEnvelope[];
    return { events, diagnostics: [], log: logOf(sessionId, stored), release };
  };
  return {
    create: async (sessionId: SessionId, first: EnginePayload) => {
      const stored: Stored = { events: [], synced: 1, open: false };
      sessions.set(sessionId, stored);
      logOf(sessionId, stored).append(first, null);
      return own(sessionId, stored);
    },
    open: async (sessionId) => own(sessionId, storedOf(sessionId)),
    read: async (sessionId) => ({
      events: storedOf(sessionId).events as readonly EventEnvelope[],
      diagnostics: [],
    }),
    rootOf: async (sessionId) => rootOf(sessionId, storedOf(sessionId)),
    children: async (rootId) =>
      [...sessions].flatMap(([id, stored]) => (id !== rootId && rootOf(id, stored) === rootId ? [id] : [])),
    list: async () => [...sessions.keys()].map((sessionId) => ({ sessionId, updatedAt: 0, damaged: null })),
    synced: (sessionId) => storedOf(sessionId).events.slice(0, storedOf(sessionId).synced),
    appended: (sessionId) => storedOf(sessionId).events,
    holdSyncs: () => {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return { release: () => held.resolve() };
    },
    failSyncs: () => {
      failing = true;
    },
    crashed: () => {
      const left = [...sessions].map(([id, { events }]) => [id, events] as const);
      return memorySessionStore(now, left);
    },
    isOpen: (sessionId) => storedOf(sessionId).open,
  };
}

function rootOf(sessionId: SessionId, { events: [first] }: Stored): SessionId {
  const payload = first?.payload;
  return (payload?.type === 'session_created' ? payload.origin?.root_id : undefined) ?? sessionId;
}
