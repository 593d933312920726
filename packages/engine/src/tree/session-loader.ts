import type { SessionId } from '@agentd/contract';
import type { EngineEvent, EnginePayload } from '../events.ts';
import type { EngineSettings, OwnedSession, SessionStore } from '../ports.ts';
import { recover } from '../recovery.ts';
import type { ActorTree, RunPorts } from '../run-launch.ts';
import { SessionActor } from '../session-actor.ts';
import { SessionJournal, type SessionListener, type SessionViews } from '../session-journal.ts';

export interface LoaderInit {
  readonly ports: RunPorts & { readonly sessions: SessionStore };
  readonly settings: EngineSettings;
  readonly views: () => SessionViews;
  readonly listener: SessionListener;
  /** What a session needs of the tree that it joins. */
  readonly treeOf: (journal: SessionJournal) => ActorTree;
}

/** Brings sessions of one tree into memory: from their logs, or new ones. A session that fails keeps no lock. */
export class SessionLoader {
  readonly #init: LoaderInit;

  constructor(init: LoaderInit) {
    this.#init = init;
  }

  /** Opens a session, closes what a crash left open and gives its claims back (SES-6). Throws as `SessionStore.open`. */
  async load(sessionId: SessionId): Promise<SessionActor> {
    const { ports, settings } = this.#init;
    const owned = await ports.sessions.open(sessionId);
    return releaseUnless(owned, async () => {
      const journal = this.#journal(sessionId, owned);
      await recover({
        state: journal.state,
        sink: journal.sinkOfActiveRun(),
        outputs: ports.outputs,
        limits: settings.outputLimits,
      });
      journal.inbox.release();
      await journal.sync();
      return this.#actor(sessionId, owned, journal);
    });
  }

  /** Makes a session of its first events. They are on disk when it resolves. */
  async create(sessionId: SessionId, payloads: readonly [EnginePayload, ...EnginePayload[]]) {
    const [first, ...rest] = payloads;
    const owned = await this.#init.ports.sessions.create(sessionId, first);
    return releaseUnless(owned, async () => {
      const journal = this.#journal(sessionId, owned);
      journal.replay(owned.events as readonly EngineEvent[]);
      for (const payload of rest) journal.append(payload, null);
      await journal.sync();
      return this.#actor(sessionId, owned, journal);
    });
  }

  #journal(sessionId: SessionId, { log, events }: OwnedSession): SessionJournal {
    const { listener, views } = this.#init;
    return new SessionJournal({ sessionId, log, events, listener, views: views() });
  }

  #actor(id: SessionId, owned: OwnedSession, journal: SessionJournal): SessionActor {
    const { ports, settings, treeOf } = this.#init;
    const { diagnostics, release } = owned;
    return new SessionActor({ id, ports, settings, journal, tree: treeOf(journal), diagnostics, release });
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
