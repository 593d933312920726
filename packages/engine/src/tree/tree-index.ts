import type { SessionFacts, SessionId } from '@agentd/contract';
import type { GrantView } from '../permissions/grants.ts';
import type { SessionActor } from '../session-actor.ts';
import type { SessionState } from '../session-state.ts';
import { factsOf } from './session-facts.ts';

/** What a tree knows of a session that is not in memory. */
export interface StoredSession {
  readonly facts: SessionFacts;
  /** What its newest run used; empty before the first one. */
  readonly models: readonly string[];
  /** Messages wait that a run would take. */
  readonly isWaiting: boolean;
  /** What the user has allowed for good in it. */
  readonly grants: GrantView;
}

/** Of the newest run. */
export function modelsOf({ lastRun }: SessionState): readonly string[] {
  return lastRun === null || lastRun.model === null ? [] : [lastRun.model];
}

/** The sessions of one tree, in memory or not, in order of creation. */
export class TreeIndex {
  /** What the user has allowed for good anywhere in the tree (PERM-7). */
  readonly grants: GrantView = {
    has: (request) => [...this.#stored.keys()].some((id) => this.#grantsOf(id)?.has(request) === true),
  };
  readonly #stored = new Map<SessionId, StoredSession>();
  readonly #resident: (sessionId: SessionId) => SessionActor | null;

  constructor(resident: (sessionId: SessionId) => SessionActor | null) {
    this.#resident = resident;
  }

  get ids(): readonly SessionId[] {
    return [...this.#stored.keys()];
  }

  get all(): readonly SessionFacts[] {
    return this.ids.flatMap((id) => this.facts(id) ?? []);
  }

  has(sessionId: SessionId): boolean {
    return this.#stored.has(sessionId);
  }

  facts(sessionId: SessionId): SessionFacts | null {
    const actor = this.#resident(sessionId);
    return actor === null ? (this.#stored.get(sessionId)?.facts ?? null) : factsOf(sessionId, actor.state);
  }

  isWaiting(sessionId: SessionId): boolean {
    const waiting = this.#resident(sessionId)?.journal.inbox.waiting;
    return waiting === undefined ? this.#stored.get(sessionId)?.isWaiting === true : waiting > 0;
  }

  put({ facts, models, isWaiting, grants }: StoredSession): void {
    this.#stored.set(facts.sessionId, { facts, models, isWaiting, grants });
  }

  /** Keeps what is known of a session that leaves the memory. */
  remember(actor: SessionActor): void {
    this.put(stored(actor));
  }

  /** Models of the session's own newest run, else of the nearest above it; empty where nobody ran. */
  modelsFor(sessionId: SessionId): readonly string[] {
    const seen = new Set<SessionId>();
    for (let id: SessionId | null = sessionId; id !== null && !seen.has(id);) {
      seen.add(id);
      const models = this.#modelsOf(id);
      if (models.length > 0) return models;
      id = this.#stored.get(id)?.facts.parentId ?? null;
    }
    return [];
  }

  #grantsOf(sessionId: SessionId): GrantView | undefined {
    return this.#resident(sessionId)?.state.grants ?? this.#stored.get(sessionId)?.grants;
  }

  #modelsOf(sessionId: SessionId): readonly string[] {
    const actor = this.#resident(sessionId);
    return actor === null ? (this.#stored.get(sessionId)?.models ?? []) : modelsUsedBy(actor);
  }
}

function stored(actor: SessionActor): StoredSession {
  const { id, state, journal } = actor;
  return {
    facts: factsOf(id, state),
    models: modelsUsedBy(actor),
    isWaiting: journal.inbox.waiting > 0,
    grants: state.grants,
  };
}

function modelsUsedBy({ models, state }: SessionActor): readonly string[] {
  return models.length > 0 ? models : modelsOf(state);
}
