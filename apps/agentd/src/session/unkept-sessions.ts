import { type EventEnvelope, type SessionId } from '@agentd/contract';
import { engineError, type EngineEvent, type EventLog, type SessionStore } from '@agentd/engine';

/** Sessions that nobody keeps: for a look at what one would have. */
export function unkeptSessions(): SessionStore {
  const logs = new Map<SessionId, EngineEvent[]>();
  const read = async (sessionId: SessionId) => {
    const events = logs.get(sessionId);
    if (events === undefined)
      throw engineError('ENGINE_SESSION_NOT_FOUND', `there is no session ${sessionId}`);
    return { events: [...events] as unknown as readonly EventEnvelope[], diagnostics: [] };
  };
  const open: SessionStore['open'] = async (sessionId) => {
    const content = await read(sessionId);
    const log = logOf(sessionId, logs.get(sessionId) ?? []);
    return { ...content, log, release: async () => undefined };
  };
  return {
    create: async (sessionId, first) => {
      const events: EngineEvent[] = [];
      logs.set(sessionId, events);
      logOf(sessionId, events).append(first, null);
      return open(sessionId);
    },
    open,
    read,
    list: async () => [],
    rootOf: async (sessionId) => sessionId,
    children: async () => [],
  };
}

function logOf(sessionId: SessionId, events: EngineEvent[]): EventLog {
  return {
    append: (payload, runId) => {
      const event = {
        seq: events.length + 1,
        session_id: sessionId,
        run_id: runId,
        timestamp: new Date(0).toISOString(),
        engine_version: '',
        payload,
      } as EngineEvent;
      events.push(event);
      return event;
    },
    sync: async () => undefined,
    close: async () => undefined,
  };
}
