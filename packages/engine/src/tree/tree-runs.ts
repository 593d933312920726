import {
  codeOf,
  type ChildRunInit,
  type Ids,
  type RunId,
  type SessionFacts,
  type SessionId,
  type StartedChildRun,
} from '@agentd/contract';
import { engineError } from '../errors.ts';
import { orAbort } from '../or-abort.ts';
import type { AgentSource } from '../ports.ts';
import { agentOf } from '../run-plan.ts';
import type { SessionActor } from '../session-actor.ts';
import type { StartedRun } from '../session.ts';
import type { Residents } from './residents.ts';
import type { RunDefaults } from './run-defaults.ts';
import { endedRun } from './session-facts.ts';
import type { TreeIndex } from './tree-index.ts';

export interface TreeRunsInit {
  readonly ids: Ids;
  readonly agents: AgentSource;
  readonly defaults: RunDefaults;
  readonly residents: Residents;
  readonly index: TreeIndex;
  /** A session has messages and could not be started for them: they wait for the next occasion. */
  readonly cannotWake: (sessionId: SessionId, error: unknown) => void;
}

/** A wake that is under way; `cancelRun` calls it off. */
interface Wake {
  calledOff: boolean;
}

/** What may end a wake without anybody's concern: somebody else was faster, nothing waits any more, or it is the end. */
const NO_CONCERN = new Set<unknown>(['ENGINE_RUN_ACTIVE', 'ENGINE_INPUT_EMPTY', 'ENGINE_SHUTTING_DOWN']);

/**
 * Runs of a tree that no user starts.
 *   R1. A wake starts at most one run, and none where a run is active or nothing waits.
 *   R2. A run that cannot start for its messages is not tried again until somebody wakes the session anew.
 *   R3. `isStill` is false from the moment of a wake or a start until its run is over.
 */
export class TreeRuns {
  readonly #init: TreeRunsInit;
  readonly #wakes = new Map<SessionId, Wake>();
  #starting = 0;
  #waiters: (() => void)[] = [];

  constructor(init: TreeRunsInit) {
    this.#init = init;
  }

  get isStill(): boolean {
    const { residents } = this.#init;
    return this.#wakes.size === 0 && this.#starting === 0 && residents.actors.every(({ isBusy }) => !isBusy);
  }

  async whenStill(): Promise<void> {
    while (!this.isStill) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiters.push(resolve);
      await promise;
    }
  }

  /** Tells those who wait for stillness to look again. */
  changed(): void {
    if (!this.isStill) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  wake(sessionId: SessionId): void {
    const { residents } = this.#init;
    if (this.#wakes.has(sessionId) || residents.isClosed) return;
    const wake: Wake = { calledOff: false };
    this.#wakes.set(sessionId, wake);
    void residents
      .use(sessionId, (actor) => this.#runForMessages(actor, wake))
      .catch((error: unknown) => {
        if (!NO_CONCERN.has(codeOf(error))) this.#init.cannotWake(sessionId, error);
      })
      .finally(() => {
        this.#wakes.delete(sessionId);
        this.changed();
      });
  }

  async startRun(sessionId: SessionId, init: ChildRunInit): Promise<StartedChildRun> {
    this.#starting += 1;
    try {
      return await this.#init.residents.use(sessionId, (actor) => this.#start(actor, init));
    } finally {
      this.#starting -= 1;
      this.changed();
    }
  }

  /** Cancels the active run, and calls a wake off; where `runId` is given, only the run with it. */
  async cancelRun(sessionId: SessionId, runId?: RunId): Promise<void> {
    const wake = this.#wakes.get(sessionId);
    if (wake !== undefined && runId === undefined) wake.calledOff = true;
    await this.#init.residents.peek(sessionId)?.cancelActive('parent', runId);
  }

  async #runForMessages(actor: SessionActor, wake: Wake): Promise<void> {
    await actor.whenEnded();
    if (wake.calledOff || actor.isBusy || actor.journal.inbox.waiting === 0) return;
    const { ids } = this.#init;
    const agent = actor.state.lastRun?.agent ?? actor.state.header.agent;
    const limits = this.#limits(actor, agent, 'message');
    await actor.begin({ clientRunId: ids.uuid(), input: null, trigger: 'message', agent, ...limits });
  }

  async #start(actor: SessionActor, init: ChildRunInit): Promise<StartedChildRun> {
    const { clientRunId, input, signal } = init;
    const known = actor.known(clientRunId);
    if (known !== undefined) return childRun(actor, clientRunId, known);
    const { agent } = actor.state.header;
    const limits = this.#limits(actor, agent, 'delegation');
    for (;;) {
      signal?.throwIfAborted();
      const started = await actor
        .begin({ clientRunId, input, trigger: 'delegation', ...limits })
        .catch((error: unknown) => {
          if (codeOf(error) === 'ENGINE_RUN_ACTIVE') return null;
          throw error;
        });
      if (started !== null) return childRun(actor, clientRunId, started);
      await (signal === undefined ? actor.whenIdle() : orAbort(() => actor.whenIdle(), signal));
    }
  }

  #limits({ id }: SessionActor, agentId: string, trigger: 'message' | 'delegation') {
    const { agents, defaults, index } = this.#init;
    const session = this.#facts(id);
    return defaults({
      session,
      agent: agentOf(agents, agentId),
      trigger,
      inherited: index.modelsFor(id),
    });
  }

  #facts(sessionId: SessionId): SessionFacts {
    const facts = this.#init.index.facts(sessionId);
    if (facts === null) throw noSession(sessionId);
    return facts;
  }
}

export function noSession(sessionId: SessionId): Error {
  return engineError('ENGINE_SESSION_NOT_FOUND', `there is no session ${JSON.stringify(sessionId)}`);
}

function childRun(actor: SessionActor, clientRunId: string, { runId, done }: StartedRun): StartedChildRun {
  const ended = done.then((end) => {
    const record = actor.state.runByClientId(clientRunId);
    if (record === undefined) throw new Error('a run that ran is not in the state');
    return endedRun(record, end);
  });
  return { runId, done: ended };
}
