import { codeOf, type EventEnvelope, type SessionId } from '@agentd/contract';
import type { SessionStore } from '../ports.ts';
import type { SessionViews } from '../session-journal.ts';
import { SessionState } from '../session-state.ts';
import { factsOf } from './session-facts.ts';
import { modelsOf, type StoredSession } from './tree-index.ts';

/** A session as its log tells it, and whether a crash has left something open in it. */
export interface ReadSession extends StoredSession {
  readonly needsRecovery: boolean;
  /** When it was made, RFC 3339. */
  readonly createdAt: string;
}

function readSession(
  sessionId: SessionId,
  events: readonly EventEnvelope[],
  { inbox }: SessionViews,
): ReadSession {
  const state = SessionState.of(events);
  const isOpen = state.openCalls.some(({ started }) => started !== null);
  const waiting = inbox?.({ log: { append: neverAppended }, events }).waiting ?? 0;
  return {
    facts: factsOf(sessionId, state),
    models: modelsOf(state),
    isWaiting: waiting > 0,
    grants: state.grants,
    needsRecovery: state.activeRun !== null || isOpen || state.openApprovals.length > 0,
    createdAt: events[0]?.timestamp ?? '',
  };
}

function neverAppended(): never {
  throw new Error('a view of a log that is only read has appended to it');
}

/** So many logs are read together. */
const READ_TOGETHER = 16;

/** The subagents of a tree, in order of creation. One that is damaged is left out: an error for itself alone (SES-3). */
export async function readChildren(
  rootId: SessionId,
  sessions: SessionStore,
  views: SessionViews,
): Promise<readonly ReadSession[]> {
  const ids = await sessions.children(rootId);
  const found: ReadSession[] = [];
  for (let start = 0; start < ids.length; start += READ_TOGETHER) {
    const some = ids.slice(start, start + READ_TOGETHER).map((id) => readChild(id, sessions, views));
    found.push(...(await Promise.all(some)).flat());
  }
  return found.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt)));
}

async function readChild(
  id: SessionId,
  sessions: SessionStore,
  views: SessionViews,
): Promise<readonly ReadSession[]> {
  try {
    const { events } = await sessions.read(id);
    return [readSession(id, events, views)];
  } catch (error) {
    if (codeOf(error) === 'ENGINE_SESSION_DAMAGED') return [];
    throw error;
  }
}
