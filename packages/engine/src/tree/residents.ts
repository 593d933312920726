import type { Clock, SessionId } from '@agentd/contract';
import { shuttingDown } from '../run-launch.ts';
import type { SessionActor } from '../session-actor.ts';

export interface ResidencyLimits {
  /** Subagents in memory at most, as far as they are idle (`max_resident_subagents`). */
  readonly maxResident: number;
  /** Milliseconds (`idle_eviction_after`). */
  readonly idleMs: number;
}

export interface ResidentsInit {
  readonly clock: Clock;
  readonly limits: ResidencyLimits;
  readonly load: (sessionId: SessionId) => Promise<SessionActor>;
  /** Contract: called just before the session leaves the memory, when it holds nothing that its log has not. */
  readonly leaving: (actor: SessionActor) => void;
}

interface Resident {
  readonly actor: SessionActor;
  /** A caller has it open, or the tree needs it. */
  pinned: boolean;
  /** Pieces of work that use it. */
  holds: number;
  idleSince: number;
}

/**
 * The sessions of one tree that are in memory.
 *   P1. A session is in memory at most once, and whoever asks for it gets that one.
 *   P2. What is held, busy or waits for nothing but a wake stays.
 *   P3. Beyond the limit the ones go first that have been idle longest; after `idleMs` all go.
 *   P4. After `close` nothing is loaded; everything that was in memory is closed when it resolves.
 */
export class Residents {
  readonly #init: ResidentsInit;
  readonly #residents = new Map<SessionId, Resident>();
  readonly #loading = new Map<SessionId, Promise<Resident>>();
  readonly #leaving = new Map<SessionId, Promise<void>>();
  #cancelTimer: (() => void) | null = null;
  #closed: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor(init: ResidentsInit) {
    this.#init = init;
  }

  get actors(): readonly SessionActor[] {
    return [...this.#residents.values()].map(({ actor }) => actor);
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  peek(sessionId: SessionId): SessionActor | null {
    return this.#residents.get(sessionId)?.actor ?? null;
  }

  /** Takes in a session that `make` makes; a pinned one stays until `unpin`. */
  async add(sessionId: SessionId, make: () => Promise<SessionActor>, pinned: boolean): Promise<SessionActor> {
    if (this.isClosed) throw shuttingDown();
    const resident = await this.#loadBy(sessionId, make);
    resident.pinned ||= pinned;
    this.#sweep();
    return resident.actor;
  }

  /** Keeps the session in memory until `work` has settled. Rejects, before `work` began, after `close`. */
  async use<Value>(sessionId: SessionId, work: (actor: SessionActor) => Promise<Value>): Promise<Value> {
    const resident = await this.#hold(sessionId);
    try {
      return await work(resident.actor);
    } finally {
      this.#release(resident);
    }
  }

  /** Keeps it until `unpin`, or until the tree is closed. */
  async pin(sessionId: SessionId): Promise<SessionActor> {
    const resident = await this.#hold(sessionId);
    resident.pinned = true;
    this.#release(resident);
    return resident.actor;
  }

  unpin(sessionId: SessionId): void {
    const resident = this.#residents.get(sessionId);
    if (resident === undefined) return;
    resident.pinned = false;
    this.touch(sessionId);
  }

  /** The session has become idle: it may have to go now. */
  touch(sessionId: SessionId): void {
    const resident = this.#residents.get(sessionId);
    if (resident !== undefined) resident.idleSince = this.#init.clock.now();
    this.#sweep();
  }

  /** Ends every run, lets go on for `graceMs` what holds a session, and closes them all. Rejects as `SessionActor.shut`. */
  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #hold(sessionId: SessionId): Promise<Resident> {
    for (;;) {
      await this.#leaving.get(sessionId);
      if (this.isClosed) throw shuttingDown();
      const resident = this.#residents.get(sessionId) ?? (await this.#load(sessionId));
      // It can have left while this caller's turn came.
      if (this.#residents.get(sessionId) !== resident) continue;
      if (this.isClosed) throw shuttingDown();
      resident.holds += 1;
      return resident;
    }
  }

  #load(sessionId: SessionId): Promise<Resident> {
    return this.#loading.get(sessionId) ?? this.#loadBy(sessionId, () => this.#init.load(sessionId));
  }

  #loadBy(sessionId: SessionId, make: () => Promise<SessionActor>): Promise<Resident> {
    const loading = make()
      .then((actor) => this.#put(actor))
      .finally(() => this.#loading.delete(sessionId));
    this.#loading.set(sessionId, loading);
    return loading;
  }

  #put(actor: SessionActor): Resident {
    const resident = { actor, pinned: false, holds: 0, idleSince: this.#init.clock.now() };
    this.#residents.set(actor.id, resident);
    return resident;
  }

  #release(resident: Resident): void {
    resident.holds -= 1;
    resident.idleSince = this.#init.clock.now();
    if (this.isClosed) this.#drained?.();
    else this.#sweep();
  }

  #sweep(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.isClosed) return;
    const { clock, limits } = this.#init;
    const idle = this.#idle();
    const surplus = this.#residents.size - limits.maxResident;
    const due = idle.filter(
      ({ idleSince }, index) => index < surplus || clock.now() - idleSince >= limits.idleMs,
    );
    for (const resident of due) this.#evict(resident);
    const next = idle[due.length];
    if (next === undefined) return;
    this.#cancelTimer = clock.after(next.idleSince + limits.idleMs - clock.now(), () => this.#sweep());
  }

  /** Those that may go, the one that was used longest ago first. */
  #idle(): readonly Resident[] {
    const may = [...this.#residents.values()].filter(
      ({ actor, pinned, holds }) =>
        !pinned && holds === 0 && !actor.isBusy && actor.journal.inbox.waiting === 0,
    );
    return may.toSorted((a, b) => a.idleSince - b.idleSince);
  }

  #evict({ actor }: Resident): void {
    this.#init.leaving(actor);
    this.#residents.delete(actor.id);
    // Whoever reads the log next finds out what is wrong with it.
    const gone = actor
      .shut()
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(actor.id));
    this.#leaving.set(actor.id, gone);
  }

  async #close(graceMs: number): Promise<void> {
    this.#cancelTimer?.();
    await Promise.allSettled(this.#loading.values());
    await Promise.allSettled(this.actors.map((actor) => actor.endRuns()));
    await this.#holdsEnd(graceMs);
    await Promise.allSettled(this.#leaving.values());
    const shut = await Promise.allSettled(this.actors.map((actor) => actor.shut()));
    const failed = shut.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Who holds a session may still have an event to write: all runs have ended, so that it does not take long. */
  async #holdsEnd(graceMs: number): Promise<void> {
    const held = (): boolean => [...this.#residents.values()].some(({ holds }) => holds > 0);
    if (!held()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopTimer = this.#init.clock.after(graceMs, resolve);
    this.#drained = () => {
      if (!held()) resolve();
    };
    await promise;
    stopTimer();
  }
}
