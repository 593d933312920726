import type { EventEnvelope, JsonObject, SessionFacts, SessionId } from '@agentd/contract';
import type { Delegation } from '../create-delegation.ts';
import type { DelegationLedger } from '../ledger.ts';
import { MemoryInbox } from './memory-inbox.ts';
import { memoryLog, type MemoryLog } from './memory-log.ts';
import type { ActiveRun } from './memory-run.ts';
import { closingEvents, factsOf, type LiveSession } from './memory-session.ts';

/** What is left of a store when its process has died: the events of each session. */
export type MemoryDisk = ReadonlyMap<SessionId, readonly EventEnvelope[]>;

/** A session of the store. */
export interface StoredSession {
  readonly log: MemoryLog;
  /** Null while it is paged out. */
  live: LiveSession<DelegationLedger> | null;
  /** Pieces of work that hold it in memory. */
  users: number;
  run: ActiveRun | null;
}

/** The sessions of one process and their logs. */
export class MemoryStore {
  readonly #sessions = new Map<SessionId, StoredSession>();
  /** Whose ledgers and tools the sessions have. */
  delegation: Pick<Delegation, 'openLedger' | 'tools'> | null = null;
  #isDead = false;

  constructor(disk: MemoryDisk) {
    for (const [sessionId, events] of disk)
      if (factsOf(sessionId, events) !== null) this.#add(sessionId, events);
    for (const { log } of this.#sessions.values())
      for (const { payload, run_id: runId } of closingEvents(log.events)) log.append(payload, runId);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Never resolves once the process is dead. */
  async alive(): Promise<void> {
    if (this.#isDead) await new Promise<never>(() => undefined);
  }

  ids(): readonly SessionId[] {
    return [...this.#sessions.keys()];
  }

  find(sessionId: SessionId): SessionFacts | null {
    const session = this.#sessions.get(sessionId);
    return session === undefined ? null : factsOf(sessionId, session.log.events);
  }

  tree(rootId: SessionId): readonly SessionFacts[] {
    return this.ids()
      .flatMap((sessionId) => this.find(sessionId) ?? [])
      .filter((facts) => facts.rootId === rootId);
  }

  entry(sessionId: SessionId): StoredSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new Error(`there is no session ${sessionId}`);
    return session;
  }

  facts(sessionId: SessionId): SessionFacts {
    const facts = this.find(sessionId);
    if (facts === null) throw new Error(`there is no session ${sessionId}`);
    return facts;
  }

  /** What is in memory of a session, loaded from its log where it was paged out. */
  liveOf(sessionId: SessionId): LiveSession<DelegationLedger> {
    const session = this.entry(sessionId);
    if (session.live !== null) return session.live;
    if (this.delegation === null) throw new Error('connect a delegation first');
    const { log } = session;
    const init = { sessionId, log, events: log.events };
    session.live = { inbox: new MemoryInbox(init), ledger: this.delegation.openLedger(init) };
    return session.live;
  }

  async create(sessionId: SessionId, created: JsonObject): Promise<SessionFacts> {
    const { log } = this.#add(sessionId, []);
    log.append({ type: 'session_created', cwd: '/', ...created }, null);
    await log.sync();
    await this.alive();
    return this.facts(sessionId);
  }

  remove(sessionId: SessionId): void {
    this.#sessions.delete(sessionId);
  }

  /** What is on disk when the process dies now; `kept` says in hundredths how much of each log's unsynced end is, too. */
  kill(kept: (sessionId: SessionId) => number): MemoryDisk {
    this.#isDead = true;
    const left = ([sessionId, { log }]: [SessionId, StoredSession]) => {
      const unsynced = log.events.length - log.synced();
      const through = log.synced() + Math.floor((unsynced * kept(sessionId)) / 100);
      return [sessionId, log.events.slice(0, through)] as const;
    };
    return new Map([...this.#sessions].map(left));
  }

  #add(sessionId: SessionId, earlier: readonly EventEnvelope[]): StoredSession {
    const onAppend = (event: EventEnvelope): void => {
      if (this.#isDead) return;
      const { live } = this.entry(sessionId);
      live?.inbox.apply(event);
      live?.ledger.apply(event);
    };
    const log = memoryLog({ sessionId, earlier, onAppend });
    const session: StoredSession = { log, live: null, users: 0, run: null };
    this.#sessions.set(sessionId, session);
    return session;
  }
}
