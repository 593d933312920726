import { codeOf, type ChildInit, type SessionFacts, type SessionId, type TreeKeeper } from '@agentd/contract';
import type { PermissionRule } from '../agent-document.ts';
import { engineError } from '../errors.ts';
import type { EnginePayload, EventOf, PermissionMode } from '../events.ts';
import type { RuleLayers } from '../permissions/decide.ts';
import type { EngineSettings, SessionStore } from '../ports.ts';
import type { ActorTree, RunPorts } from '../run-launch.ts';
import { agentOf } from '../run-plan.ts';
import type { SessionActor } from '../session-actor.ts';
import type { Session } from '../session.ts';
import type { SessionJournal, SessionListener, SessionViews } from '../session-journal.ts';
import { Listeners } from './listeners.ts';
import { kinshipOf, reaches } from './message-reach.ts';
import { readChildren } from './read-children.ts';
import { Residents, type ResidencyLimits } from './residents.ts';
import type { RunDefaults } from './run-defaults.ts';
import { factsOf } from './session-facts.ts';
import { SessionLoader } from './session-loader.ts';
import { TreeIndex } from './tree-index.ts';
import { noSession, TreeRuns } from './tree-runs.ts';

/** What all trees of an engine share. */
export interface TreeInit {
  readonly ports: RunPorts & { readonly sessions: SessionStore };
  readonly settings: EngineSettings;
  readonly views: () => SessionViews;
  readonly residency: ResidencyLimits;
  readonly defaults: RunDefaults;
  readonly keeper: () => TreeKeeper | undefined;
  readonly cannotWake: (sessionId: SessionId, error: unknown) => void;
}

export interface RootInit {
  readonly cwd: string;
  readonly agent: string;
  readonly title: string;
  readonly mode?: PermissionMode | undefined;
  readonly overlay?: readonly PermissionRule[] | undefined;
}

/** For who still writes the end of a child into its parent's log while a tree closes. */
const CLOSING_GRACE_MS = 1000;

/**
 * The sessions of one tree, owned by this process.
 *   F1. One lock stands for all of them, held from the root's opening until `close` resolves (SES-4).
 *   F2. Every session is recovered before any of them goes on (SES-6); nothing goes on by itself before `resume`.
 *   F3. Mode and overlay stand in the root's log and hold for all (PERM-6).
 *   F4. It closes with the last session that a caller has open.
 */
export class SessionTree {
  readonly rootId: SessionId;
  readonly index: TreeIndex;
  readonly residents: Residents;
  readonly runs: TreeRuns;
  readonly #init: TreeInit;
  readonly #loader: SessionLoader;
  readonly #listeners = new Listeners();
  /** Sessions that callers have open. */
  readonly #open = new Map<SessionId, SessionListener>();
  readonly #creating = new Map<SessionId, Promise<SessionFacts>>();
  readonly #whenClosed: () => void;
  /** Settles once the tree is adopted: nobody gets a session of it before (F2). */
  #ready: Promise<unknown> = Promise.resolve();
  #policy: SessionJournal | null = null;
  #resumed: Promise<void> | null = null;
  #goesOn = false;
  #closed: Promise<void> | null = null;

  constructor(rootId: SessionId, init: TreeInit, closed: () => void) {
    this.rootId = rootId;
    this.#init = init;
    this.#whenClosed = closed;
    const { ports, settings, views, residency, defaults, cannotWake } = init;
    this.#loader = new SessionLoader({
      ports,
      settings,
      views,
      listener: this.#listeners.asListener,
      treeOf: (journal) => this.#seenBy(journal),
    });
    this.residents = new Residents({
      clock: ports.clock,
      // The root is no subagent, and always there.
      limits: { ...residency, maxResident: residency.maxResident + 1 },
      load: (sessionId) => this.#load(sessionId),
      leaving: (actor) => this.index.remember(actor),
    });
    this.index = new TreeIndex((sessionId) => this.residents.peek(sessionId));
    const { residents, index } = this;
    this.runs = new TreeRuns({
      ids: ports.ids,
      agents: ports.agents,
      defaults,
      residents,
      index,
      cannotWake,
    });
  }

  get overlay(): readonly PermissionRule[] {
    return this.#policy?.state.overlay ?? [];
  }

  /** Settles once the tree is closed; null before that began. */
  get closing(): Promise<void> | null {
    return this.#closed;
  }

  /** Makes the root, and opens it for a caller. Throws `ENGINE_AGENT_UNKNOWN` before anything is written. */
  async create(root: RootInit, handle: string, listener: SessionListener): Promise<Session> {
    const { cwd, agent, title, mode, overlay } = root;
    agentOf(this.#init.ports.agents, agent);
    this.#enter(this.rootId, listener);
    const first = { type: 'session_created', handle, agent, cwd, title, origin: null } as const;
    const rules = overlay?.map((rule) => ({ ...rule }));
    const rest: readonly EnginePayload[] = [
      ...(mode === undefined ? [] : [{ type: 'permission_mode_set', mode } as const]),
      ...(rules === undefined ? [] : [{ type: 'permission_overlay_set', rules } as const]),
    ];
    const make = () => this.#loader.create(this.rootId, [first, ...rest]);
    const actor = await this.residents.add(this.rootId, make, true);
    this.index.remember(actor);
    // There is nothing that it could have left.
    this.#resumed = Promise.resolve();
    this.#goesOn = true;
    return actor;
  }

  /** Takes the lock and recovers every session; then opens one for a caller. Throws as `Engine.openSession`. */
  adopt(sessionId: SessionId, listener: SessionListener): Promise<Session> {
    this.#enter(sessionId, listener);
    const adopted = this.#adopt(sessionId);
    this.#ready = adopted.catch(() => undefined);
    return adopted;
  }

  /** Opens one more session of the tree for a caller. */
  async open(sessionId: SessionId, listener: SessionListener): Promise<Session> {
    if (this.#open.has(sessionId)) throw openAlready(sessionId);
    this.#enter(sessionId, listener);
    try {
      await this.#ready;
      return await this.residents.pin(sessionId);
    } catch (error) {
      this.#exit(sessionId);
      throw error;
    }
  }

  createChild(init: ChildInit): Promise<SessionFacts> {
    const { sessionId } = init;
    const known = this.index.facts(sessionId);
    if (known !== null) return Promise.resolve(known);
    const creating =
      this.#creating.get(sessionId) ??
      this.#createChild(init).finally(() => this.#creating.delete(sessionId));
    this.#creating.set(sessionId, creating);
    return creating;
  }

  resume(): Promise<void> {
    this.#resumed ??= this.#resume();
    return this.#resumed;
  }

  /** Before `resume` it does nothing: that looks at all sessions by itself (F2). */
  wake(sessionId: SessionId): void {
    if (this.#goesOn && !this.#promptComes(sessionId)) this.runs.wake(sessionId);
  }

  async quiet(): Promise<void> {
    for (;;) {
      await this.runs.whenStill();
      await this.#init.keeper()?.settled(this.rootId);
      if (this.runs.isStill || this.#closed !== null) return;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.residents.close(CLOSING_GRACE_MS).finally(() => {
      this.runs.changed();
      this.#whenClosed();
    });
    return this.#closed;
  }

  async #adopt(sessionId: SessionId): Promise<Session> {
    await this.#adoptRoot(sessionId);
    const { ports, views } = this.#init;
    const children = await readChildren(this.rootId, ports.sessions, views());
    for (const child of children) this.index.put(child);
    const broken = children.filter(({ needsRecovery }) => needsRecovery);
    for (const { facts } of broken) await this.residents.use(facts.sessionId, async () => undefined);
    return this.residents.pin(sessionId);
  }

  async #adoptRoot(wanted: SessionId): Promise<void> {
    try {
      this.index.remember(await this.residents.pin(this.rootId));
    } catch (error) {
      // A root that cannot be read is an error for itself alone (SES-3).
      if (wanted === this.rootId || codeOf(error) !== 'ENGINE_SESSION_DAMAGED') throw error;
    }
  }

  async #createChild({ sessionId, handle, agent, title, origin }: ChildInit): Promise<SessionFacts> {
    agentOf(this.#init.ports.agents, agent);
    const parent = this.index.facts(origin.parentId);
    if (parent === null) throw noSession(origin.parentId);
    const { cwd } = parent;
    const first = { type: 'session_created', handle, agent, cwd, title, origin: originOf(origin) } as const;
    const make = () => this.#loader.create(sessionId, [first]);
    const actor = await this.residents.add(sessionId, make, false);
    this.index.remember(actor);
    return factsOf(sessionId, actor.state);
  }

  async #load(sessionId: SessionId): Promise<SessionActor> {
    if (sessionId !== this.rootId && !this.index.has(sessionId) && !this.#open.has(sessionId))
      throw noSession(sessionId);
    return this.#loader.load(sessionId);
  }

  async #resume(): Promise<void> {
    await this.#init.keeper()?.treeOpened(this.rootId);
    this.#goesOn = true;
    for (const id of this.index.ids) if (this.index.isWaiting(id)) this.wake(id);
  }

  #seenBy(journal: SessionJournal): ActorTree {
    if (journal.state.header.origin === null) this.#policy = journal;
    return {
      policy: this.#policy ?? journal,
      grants: this.index.grants,
      canReply: (sessionId, handle, rules) => this.#canReply(sessionId, handle, rules),
      idle: (sessionId, left) => this.#idle(sessionId, left),
      resume: () => this.resume(),
      quiet: () => this.quiet(),
      leave: (sessionId) => this.#leave(sessionId),
    };
  }

  /** Nobody begins with a message while the prompt that made it is on its way: it would know nothing of its task. */
  #promptComes(sessionId: SessionId): boolean {
    const hasNotRun = this.index.facts(sessionId)?.status === 'idle';
    return hasNotRun && this.#init.keeper()?.awaitsPrompt(sessionId) === true;
  }

  #canReply(sessionId: SessionId, handle: string, rules: RuleLayers): boolean {
    const sender = this.index.all.find((one) => one.handle === handle);
    const own = this.index.facts(sessionId);
    return sender !== undefined && own !== null && reaches(kinshipOf(own, sender), rules);
  }

  #idle(sessionId: SessionId, left: number): void {
    if (left > 0) this.wake(sessionId);
    this.residents.touch(sessionId);
    this.runs.changed();
  }

  #enter(sessionId: SessionId, listener: SessionListener): void {
    this.#open.set(sessionId, listener);
    this.#listeners.add(listener);
  }

  #exit(sessionId: SessionId): void {
    const listener = this.#open.get(sessionId);
    if (listener === undefined) return;
    this.#open.delete(sessionId);
    this.#listeners.remove(listener);
  }

  async #leave(sessionId: SessionId): Promise<void> {
    if (!this.#open.has(sessionId)) return;
    // The last one stays noted, so that closing it again waits for the same end.
    if (this.#open.size === 1) return this.close();
    this.#exit(sessionId);
    if (sessionId !== this.rootId) this.residents.unpin(sessionId);
  }
}

function originOf(origin: ChildInit['origin']): NonNullable<EventOf<'session_created'>['origin']> {
  return {
    root_id: origin.rootId,
    parent_id: origin.parentId,
    parent_run_id: origin.parentRunId,
    tool_call_id: origin.toolCallId,
    invocation_id: origin.invocationId,
    depth: origin.depth,
  };
}

export function openAlready(sessionId: SessionId): Error {
  return engineError('ENGINE_SESSION_LOCKED', `session ${sessionId} is open already in this process`);
}
