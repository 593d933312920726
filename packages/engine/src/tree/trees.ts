import { codeOf, type SessionFacts, type SessionId, type SessionProjection } from '@agentd/contract';
import { engineError } from '../errors.ts';
import { decide, type RuleLayers } from '../permissions/decide.ts';
import type { EngineHost } from '../ports.ts';
import type { Session } from '../session.ts';
import type { SessionListener } from '../session-journal.ts';
import { SessionState } from '../session-state.ts';
import { conversationOf, factsOf, runOf } from './session-facts.ts';
import { openAlready, SessionTree, type RootInit, type TreeInit } from './session-tree.ts';
import { noSession } from './tree-runs.ts';

/**
 * The trees that an engine has open, as packages see their sessions.
 *   H1. A tree is open at most once; who comes while it closes waits for that.
 *   H2. What only looks needs no open tree and no lock; what acts does.
 *   H3. Once a stop has begun, nothing opens and nothing is handed out any more.
 */
export class Trees {
  readonly #init: TreeInit;
  readonly #trees = new Map<SessionId, SessionTree>();
  readonly #opening = new Set<Promise<Session>>();
  readonly #stopping = new AbortController();

  constructor(init: TreeInit) {
    this.#init = init;
  }

  create(root: RootInit, listener: SessionListener): Promise<Session> {
    const { ids } = this.#init.ports;
    return this.#during(async () => {
      const rootId = ids.uuid();
      const handle = `${root.agent}_${ids.hex(8)}`;
      return this.#entered(rootId, (tree) => tree.create(root, handle, listener));
    });
  }

  open(sessionId: SessionId, listener: SessionListener): Promise<Session> {
    return this.#during(async () => {
      const rootId = await this.#init.ports.sessions.rootOf(sessionId);
      const known = this.#trees.get(rootId);
      if (known !== undefined && known.closing === null) return known.open(sessionId, listener);
      await known?.closing?.catch(() => undefined);
      if (this.#trees.has(rootId)) throw openAlready(sessionId);
      return this.#entered(rootId, (tree) => tree.adopt(sessionId, listener));
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#opening);
    const closed = await Promise.allSettled([...this.#trees.values()].map((tree) => tree.close()));
    const failed = closed.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** The ledger is what `TreeInit.views` makes: nobody else can know its type. */
  host<Ledger extends SessionProjection>(): EngineHost<Ledger> {
    return {
      shutdown: this.#stopping.signal,
      find: (sessionId) => this.#find(sessionId),
      tree: (rootId) => this.#tree(rootId),
      use: async (sessionId, work) => {
        const { residents } = this.#owner(sessionId);
        return residents.use(sessionId, ({ id, state, journal }) => {
          const { asLog: log, inbox } = journal;
          return work({ facts: factsOf(id, state), log, inbox, ledger: journal.ledger as Ledger });
        });
      },
      createChild: async (init) => this.#owner(init.origin.rootId).createChild(init),
      startRun: async (sessionId, init) => this.#owner(sessionId).runs.startRun(sessionId, init),
      run: async (sessionId, clientRunId) => runOf(await this.#state(sessionId), clientRunId),
      cancelRun: async (sessionId, runId) => this.#open(sessionId)?.runs.cancelRun(sessionId, runId),
      conversation: async (sessionId, maxBytes) => conversationOf(await this.#state(sessionId), maxBytes),
      wake: (sessionId) => this.#open(sessionId)?.wake(sessionId),
      verdict: (session, request) => {
        return decide(request, this.#rules(session.id, session.agent)).effect;
      },
    };
  }

  async #during(open: () => Promise<Session>): Promise<Session> {
    if (this.#stopping.signal.aborted) throw stopping();
    const opening = open();
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** A tree that does not open keeps no lock. */
  async #entered(rootId: SessionId, enter: (tree: SessionTree) => Promise<Session>): Promise<Session> {
    const tree = new SessionTree(rootId, this.#init, () => this.#trees.delete(rootId));
    this.#trees.set(rootId, tree);
    try {
      return await enter(tree);
    } catch (error) {
      await tree.close().catch(() => undefined);
      throw error;
    }
  }

  #open(sessionId: SessionId): SessionTree | null {
    for (const tree of this.#trees.values()) if (tree.index.has(sessionId)) return tree;
    return null;
  }

  #owner(sessionId: SessionId): SessionTree {
    if (this.#stopping.signal.aborted) throw stopping();
    const tree = this.#open(sessionId);
    if (tree === null) throw noSession(sessionId);
    return tree;
  }

  async #find(sessionId: SessionId): Promise<SessionFacts | null> {
    const known = this.#open(sessionId)?.index.facts(sessionId);
    if (known !== undefined && known !== null) return known;
    try {
      return factsOf(sessionId, await this.#read(sessionId));
    } catch (error) {
      if (codeOf(error) === 'ENGINE_SESSION_NOT_FOUND' || codeOf(error) === 'ENGINE_SESSION_DAMAGED')
        return null;
      throw error;
    }
  }

  async #tree(rootId: SessionId): Promise<readonly SessionFacts[]> {
    const known = this.#trees.get(rootId);
    if (known !== undefined) return known.index.all;
    const ids = [rootId, ...(await this.#init.ports.sessions.children(rootId))];
    const facts = await Promise.all(ids.map((id) => this.#find(id)));
    return facts.filter((one) => one !== null);
  }

  async #state(sessionId: SessionId): Promise<SessionState> {
    return this.#open(sessionId)?.residents.peek(sessionId)?.state ?? this.#read(sessionId);
  }

  async #read(sessionId: SessionId): Promise<SessionState> {
    const { events } = await this.#init.ports.sessions.read(sessionId);
    return SessionState.of(events);
  }

  #rules(sessionId: SessionId, agent: string): RuleLayers {
    const document = this.#init.ports.agents.find(agent)?.permissions ?? [];
    return { document, overlay: this.#open(sessionId)?.overlay ?? [] };
  }
}

function stopping(): Error {
  return engineError('ENGINE_SHUTTING_DOWN', 'the engine is stopping');
}
