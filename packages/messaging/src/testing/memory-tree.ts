import {
  randomIds,
  type EventEnvelope,
  type EventPayload,
  type Ids,
  type Inbox,
  type RunId,
  type SessionId,
} from '@agentd/contract';
import { inboxOpener } from '../inbox.ts';
import type { MessagingPorts, Peer } from '../ports.ts';
import type { Relation } from '../relation.ts';
import { memoryLog, type MemoryLog } from './memory-log.ts';

/** A session of a `MemoryTree`, for a loop that runs it. */
export interface MemorySession extends Peer {
  readonly log: MemoryLog;
  readonly inbox: Inbox;
  /** Appends an event of the loop: the log has it and the inbox knows it. */
  readonly record: (payload: EventPayload, runId: RunId | null) => void;
}

export interface MemoryPeerInit {
  /** The agent's id; the handle is made of it. */
  readonly agent: string;
  readonly parent?: Peer;
  readonly description?: string;
  readonly status?: string;
}

/** Trees of sessions in memory: the ports of messaging for tests, examples and loops that keep nothing. */
export interface MemoryTree {
  readonly ports: MessagingPorts;
  /** Adds a session: a root without a parent. */
  readonly add: (init: MemoryPeerInit) => MemorySession;
  /** As a revert does: nobody finds it any more. */
  readonly remove: (sessionId: SessionId) => void;
  /** Begins a shutdown. */
  readonly stop: () => void;
  /** As a restart after a crash: the session is what its disk holds, `events` if given. */
  readonly restart: (session: MemorySession, events?: readonly EventEnvelope[]) => MemorySession;
  /** Sessions that were woken, in order, with repetitions. */
  readonly woken: readonly SessionId[];
  /** Which relations the rules reach; all of them unless set. */
  readonly reach: (relations: readonly Relation[]) => void;
}

export function memoryTree(ids: Ids = randomIds): MemoryTree {
  const sessions = new Map<SessionId, MemorySession>();
  const woken: SessionId[] = [];
  const stopping = new AbortController();
  const reached = { relations: ['parent', 'child', 'sibling', '*'] as readonly Relation[] };
  const put = (peer: Peer, log: MemoryLog): MemorySession => {
    const inbox = inboxOpener(ids)({ log, events: log.events });
    const record = (payload: EventPayload, runId: RunId | null): void =>
      inbox.apply(log.append(payload, runId));
    const session = { ...peer, log, inbox, record };
    sessions.set(peer.sessionId, session);
    return session;
  };
  const ports: MessagingPorts = {
    directory: {
      find: async (sessionId) => sessions.get(sessionId) ?? null,
      tree: async (rootId) => [...sessions.values()].filter((session) => session.rootId === rootId),
    },
    inboxes: {
      use: async (sessionId, work) => {
        const session = sessions.get(sessionId);
        if (session === undefined) throw new Error(`there is no session ${sessionId}`);
        if (stopping.signal.aborted) throw new Error('the tree is stopping');
        return work({ inbox: session.inbox, sync: session.log.sync });
      },
    },
    waker: { wake: (sessionId) => void woken.push(sessionId) },
    rules: { reach: (_session, relation) => reached.relations.includes(relation) },
    shutdown: stopping.signal,
  };
  return {
    ports,
    add: (init) => {
      const peer = peerOf(init, ids);
      return put(peer, memoryLog(peer.sessionId));
    },
    remove: (sessionId) => void sessions.delete(sessionId),
    stop: () => stopping.abort(),
    restart: (session, events = session.log.synced()) => {
      const restarted = put(peerFields(session), memoryLog(session.sessionId, events));
      restarted.inbox.release();
      return restarted;
    },
    woken,
    reach: (relations) => {
      reached.relations = relations;
    },
  };
}

function peerOf({ agent, parent, description = agent, status = 'idle' }: MemoryPeerInit, ids: Ids): Peer {
  const sessionId = ids.uuid();
  return {
    sessionId,
    handle: `${agent}_${ids.hex(8)}`,
    description,
    status,
    rootId: parent?.rootId ?? sessionId,
    parentId: parent?.sessionId ?? null,
  };
}

function peerFields({ sessionId, handle, description, status, rootId, parentId }: Peer): Peer {
  return { sessionId, handle, description, status, rootId, parentId };
}
