import type { EventEnvelope, SessionId } from '@agentd/contract';
import type { PermissionRule } from './agent-document.ts';
import { engineError } from './errors.ts';
import type { EngineEvent, PermissionMode } from './events.ts';
import type { EnginePorts, EngineSettings, LogDiagnostic, OwnedSession, SessionListing } from './ports.ts';
import { recover } from './recovery.ts';
import { agentOf } from './run-plan.ts';
import type { Session } from './session.ts';
import { SessionActor } from './session-actor.ts';
import { SessionJournal, type SessionListener } from './session-journal.ts';
import { SessionState } from './session-state.ts';

export interface SessionInit {
  /** Absolute working directory. */
  readonly cwd: string;
  /** An agent document's id. */
  readonly agent: string;
  readonly title?: string;
  /** `ask` unless given (PERM-6). */
  readonly mode?: PermissionMode;
  readonly overlay?: readonly PermissionRule[];
  readonly listener?: SessionListener;
}

/** A session as its log tells it, read without the lock (SES-4). */
export interface SessionSnapshot {
  readonly state: SessionState;
  readonly events: readonly EventEnvelope[];
  readonly diagnostics: readonly LogDiagnostic[];
}

export interface Engine {
  /** Throws `ENGINE_AGENT_UNKNOWN` before anything is written. The listener sees the session's first events too. */
  readonly createSession: (init: SessionInit) => Promise<Session>;
  /**
   * Takes the lock and mends what a crash left (SES-6); the listener sees the events of that. Throws
   * `ENGINE_SESSION_NOT_FOUND`, `ENGINE_SESSION_LOCKED` or `ENGINE_SESSION_DAMAGED`.
   */
  readonly openSession: (sessionId: SessionId, listener?: SessionListener) => Promise<Session>;
  readonly readSession: (sessionId: SessionId) => Promise<SessionSnapshot>;
  /** Newest first. */
  readonly listSessions: () => Promise<readonly SessionListing[]>;
  /**
   * Cancels active runs (`signal`) and closes every session, whatever becomes of the others. Idempotent; afterwards
   * nothing can be opened. Rejects like `Session.close`.
   */
  readonly stop: () => Promise<void>;
}

/** Makes an engine of its ports. It starts nothing by itself and keeps no state beside its open sessions. */
export function createEngine(ports: EnginePorts, settings: EngineSettings): Engine {
  const host = new SessionHost(ports, settings);
  return {
    createSession: (init) => host.create(init),
    openSession: (sessionId, listener = {}) => host.open(sessionId, listener),
    readSession: async (sessionId) => {
      const { events, diagnostics } = await ports.sessions.read(sessionId);
      return { state: SessionState.of(events), events, diagnostics };
    },
    listSessions: () => ports.sessions.list(),
    stop: () => host.stop(),
  };
}

class SessionHost {
  readonly #ports: EnginePorts;
  readonly #settings: EngineSettings;
  readonly #open = new Set<Session>();
  readonly #opening = new Set<Promise<Session>>();
  #isStopping = false;

  constructor(ports: EnginePorts, settings: EngineSettings) {
    this.#ports = ports;
    this.#settings = settings;
  }

  create(init: SessionInit): Promise<Session> {
    return this.#hold(() => this.#create(init));
  }

  open(sessionId: SessionId, listener: SessionListener): Promise<Session> {
    return this.#hold(() => this.#adopt(sessionId, listener));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.allSettled(this.#opening);
    const closed = await Promise.allSettled([...this.#open].map((session) => session.close()));
    const failed = closed.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #hold(make: () => Promise<Session>): Promise<Session> {
    if (this.#isStopping) throw engineError('ENGINE_SHUTTING_DOWN', 'the engine is stopping');
    const opening = make();
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  async #create({ cwd, agent, title = '', mode, overlay, listener = {} }: SessionInit): Promise<Session> {
    const { ids, sessions, agents } = this.#ports;
    agentOf(agents, agent);
    const sessionId = ids.uuid();
    const handle = `${agent}_${ids.hex(8)}`;
    const first = { type: 'session_created', handle, agent, cwd, title, origin: null } as const;
    const owned = await sessions.create(sessionId, first);
    const journal = new SessionJournal({ log: owned.log, events: owned.events, listener });
    journal.replay(owned.events as readonly EngineEvent[]);
    if (mode !== undefined) journal.append({ type: 'permission_mode_set', mode }, null);
    if (overlay !== undefined)
      journal.append({ type: 'permission_overlay_set', rules: overlay.map((rule) => ({ ...rule })) }, null);
    await releaseUnless(owned, () => journal.sync());
    return this.#actor(sessionId, owned, journal);
  }

  async #adopt(sessionId: SessionId, listener: SessionListener): Promise<Session> {
    const owned = await this.#ports.sessions.open(sessionId);
    return releaseUnless(owned, async () => {
      const journal = new SessionJournal({ log: owned.log, events: owned.events, listener });
      await recover({
        state: journal.state,
        sink: journal.sinkOfActiveRun(),
        outputs: this.#ports.outputs,
        limits: this.#settings.outputLimits,
      });
      return this.#actor(sessionId, owned, journal);
    });
  }

  #actor(id: SessionId, owned: OwnedSession, journal: SessionJournal): Session {
    const session: Session = new SessionActor({
      id,
      ports: this.#ports,
      settings: this.#settings,
      journal,
      diagnostics: owned.diagnostics,
      release: async () => {
        this.#open.delete(session);
        await owned.release();
      },
    });
    this.#open.add(session);
    return session;
  }
}

/** A session that could not be opened to the end must not keep its lock. */
async function releaseUnless<Value>(owned: OwnedSession, ready: () => Promise<Value>): Promise<Value> {
  try {
    return await ready();
  } catch (thrown) {
    await owned.release().catch(() => undefined);
    throw thrown;
  }
}
