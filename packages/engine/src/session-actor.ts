import type { CallReport, SessionId, ToolDefinition } from '@agentd/contract';
import type { PermissionRule } from './agent-document.ts';
import { toolDefinitions } from './calls/publication.ts';
import { engineError } from './errors.ts';
import type { EnginePayload, PermissionMode } from './events.ts';
import { faultOf } from './fault.ts';
import type { LogDiagnostic } from './ports.ts';
import { runEndOf, type RunEnd } from './run-end.ts';
import type { RunRecord } from './run-ledger.ts';
import {
  RunLaunch,
  shuttingDown,
  type ActorRunInit,
  type ActorTree,
  type LaunchedRun,
  type RunLaunchInit,
} from './run-launch.ts';
import type { CancelReason } from './run-loop.ts';
import { userInput } from './run-start.ts';
import type { HandCallInit, RunInit, Session, StartedRun, StdinInput } from './session.ts';
import type { SessionJournal } from './session-journal.ts';
import type { SessionState } from './session-state.ts';

export interface SessionActorInit extends RunLaunchInit {
  readonly tree: ActorTree;
  readonly diagnostics: readonly LogDiagnostic[];
  /** Closes the log and gives back the share in the lock. */
  readonly release: () => Promise<void>;
}

interface ActiveRun extends LaunchedRun {
  readonly done: Promise<RunEnd>;
}

/** Holds the session's place from the claim until a run is active, or a call by hand is over. */
interface Occupied {
  readonly clientRunId: string;
  readonly settled: Promise<unknown>;
  /** Null for a call by hand. */
  readonly started: Promise<StartedRun> | null;
  readonly forMessages: boolean;
}

/**
 * Owns one session.
 *   T1. At most one run, or one call by hand, at a time; between the check and the claim there is no gap.
 *   T2. A client run id starts at most one run, over crashes too.
 *   T3. What is refused has written nothing.
 *   T4. After `endRuns` began nothing starts; `shut` ends when the log is closed.
 */
export class SessionActor implements Session {
  readonly id: SessionId;
  readonly diagnostics: readonly LogDiagnostic[];
  readonly #init: SessionActorInit;
  readonly #launch: RunLaunch;
  readonly #closing = new AbortController();
  #occupied: Occupied | null = null;
  #active: ActiveRun | null = null;
  #models: readonly string[] = [];
  #shut: Promise<void> | undefined;

  constructor(init: SessionActorInit) {
    this.id = init.id;
    this.diagnostics = init.diagnostics;
    this.#init = init;
    this.#launch = new RunLaunch(init);
  }

  get journal(): SessionJournal {
    return this.#init.journal;
  }

  get state(): SessionState {
    return this.#init.journal.state;
  }

  get handle(): string {
    return this.state.header.handle;
  }

  get mode(): PermissionMode {
    return this.#init.tree.policy.state.mode;
  }

  get overlay(): readonly PermissionRule[] {
    return this.#init.tree.policy.state.overlay;
  }

  /** The chain of the newest run that this actor began; empty before. */
  get models(): readonly string[] {
    return this.#models;
  }

  get newestEnd(): RunEnd | null {
    const { lastRun } = this.state;
    return lastRun === null || lastRun.runId === this.#active?.runId ? null : this.#endOf(lastRun);
  }

  /** Whether a run or a call by hand is on its way or active. */
  get isBusy(): boolean {
    return this.#occupied !== null || this.#active !== null;
  }

  async setMode(mode: PermissionMode): Promise<void> {
    await this.#setPolicy({ type: 'permission_mode_set', mode });
  }

  async setOverlay(rules: readonly PermissionRule[]): Promise<void> {
    await this.#setPolicy({ type: 'permission_overlay_set', rules: rules.map((rule) => ({ ...rule })) });
  }

  startRun(init: RunInit): Promise<StartedRun> {
    return this.begin({ ...init, trigger: 'user' });
  }

  /** `startRun`, whatever the reason of the run. */
  async begin(init: ActorRunInit): Promise<StartedRun> {
    const { clientRunId } = init;
    const starting = this.#occupied?.clientRunId === clientRunId ? this.#occupied.started : null;
    if (starting !== null) return { ...(await starting), existing: true };
    const known = this.known(clientRunId);
    if (known !== undefined) return known;
    this.#assertFree();
    const started = this.#start(init);
    return this.#occupy(
      { clientRunId, settled: started, started, forMessages: init.trigger === 'message' },
      started,
    );
  }

  async callTool(init: HandCallInit, signal: AbortSignal): Promise<CallReport> {
    const { clientRunId } = init;
    if (this.state.runByClientId(clientRunId) !== undefined)
      throw engineError('ENGINE_RUN_ID_USED', `the client run id ${clientRunId} was used before`);
    this.#assertFree();
    const closing = this.#closing.signal;
    const called = this.#launch.call(init, AbortSignal.any([signal, closing]), closing);
    return this.#occupy({ clientRunId, settled: called, started: null, forMessages: false }, called);
  }

  async publishedTools(agent?: string): Promise<readonly ToolDefinition[]> {
    const plan = await this.#launch.plan(null, agent);
    return toolDefinitions(plan.publishedTo(null));
  }

  async steer(runId: string, text: string): Promise<{ readonly inputId: string }> {
    const { journal, ports } = this.#init;
    const input = userInput(ports.ids, { text, kind: 'steer' });
    // The state tells, not `#active`: once its end is written, on disk or not, a run answers nobody.
    if (this.state.activeRun?.runId !== runId) throw notActive(runId);
    journal.append(input, runId);
    await journal.sync();
    return { inputId: input.input_id };
  }

  async toolStdin(runId: string, { callId, data, eof }: StdinInput): Promise<boolean> {
    if (this.#active?.runId !== runId) throw notActive(runId);
    return this.#active.calls.submitStdin(callId, data, eof);
  }

  async cancel(runId: string, reason: CancelReason): Promise<void> {
    if (this.#active?.runId === runId) {
      this.#active.loop.cancel(reason);
      await this.#active.ran;
    } else if (this.state.lastRun?.runId !== runId || !this.state.lastRun.ended) {
      throw notActive(runId);
    }
  }

  /** Cancels what runs or is about to, or that run alone. Resolves once its end is on disk, at once where nothing runs. */
  async cancelActive(reason: CancelReason, runId?: string): Promise<void> {
    await this.#occupied?.started?.catch(() => undefined);
    if (this.#active === null || (runId !== undefined && runId !== this.#active.runId)) return;
    this.#active.loop.cancel(reason);
    await this.#active.ran;
  }

  /** Waits for the disk where a run has written its end: it takes no message any more, and still holds the session. */
  async whenEnded(): Promise<void> {
    if (this.state.activeRun === null) await this.#active?.done;
  }

  async whenIdle(): Promise<void> {
    while (this.isBusy) {
      await Promise.allSettled([this.#occupied?.settled]);
      await this.#active?.done;
    }
  }

  resume(): Promise<void> {
    return this.#init.tree.resume();
  }

  quiet(): Promise<void> {
    return this.#init.tree.quiet();
  }

  close(): Promise<void> {
    return this.#init.tree.leave(this.id);
  }

  /** Cancels a run that is active (`signal`); from now on nothing starts. */
  async endRuns(): Promise<void> {
    this.#closing.abort('signal');
    await Promise.allSettled([this.#occupied?.settled]);
    this.#active?.loop.cancel('signal');
    await this.#active?.done;
  }

  /** Ends what runs, closes the log and lets the lock go. Idempotent. Rejects as `Session.close` does. */
  shut(): Promise<void> {
    this.#shut ??= this.#shutDown();
    return this.#shut;
  }

  async #shutDown(): Promise<void> {
    await this.endRuns();
    await this.#init.release().catch((error: unknown) => {
      if (this.journal.fault === null) throw error;
    });
  }

  #assertFree(): void {
    if (this.#closing.signal.aborted) throw shuttingDown();
    // A log that has failed takes nothing more: a run would be known to this process alone.
    if (this.journal.fault !== null) throw this.journal.fault;
    if (this.#occupied !== null || this.#active !== null)
      throw engineError(
        'ENGINE_RUN_ACTIVE',
        'a run is active in this session: wait for its end, or cancel it',
      );
  }

  async #occupy<Value>(occupied: Occupied, work: Promise<Value>): Promise<Value> {
    this.#occupied = occupied;
    try {
      return await work;
    } finally {
      this.#occupied = null;
      // What could not start for its messages would not start a second time either.
      if (!this.isBusy) this.#init.tree.idle(this.id, occupied.forMessages ? 0 : this.journal.inbox.waiting);
    }
  }

  /** The earlier run with this name, if there was one. */
  known(clientRunId: string): StartedRun | undefined {
    const record = this.state.runByClientId(clientRunId);
    if (record === undefined) return undefined;
    const { runId } = record;
    const done = this.#active?.runId === runId ? this.#active.done : Promise.resolve(this.#endOf(record));
    return { runId, existing: true, done };
  }

  /** Of a run that is over. One without an end has none because the log could not take it. */
  #endOf(record: RunRecord): RunEnd {
    const { fault } = this.journal;
    return runEndOf(record, record.ended || fault === null ? null : faultOf(fault));
  }

  async #start(init: ActorRunInit): Promise<StartedRun> {
    const launched = await this.#launch.start(init, this.#closing.signal);
    const done = this.#ended(init.clientRunId, launched);
    this.#active = { ...launched, done };
    this.#models = init.models;
    return { runId: launched.runId, existing: false, done };
  }

  async #ended(clientRunId: string, { ran, loop }: LaunchedRun): Promise<RunEnd> {
    const fault = await ran.then(() => null, faultOf);
    this.#active = null;
    const record = this.state.runByClientId(clientRunId);
    if (record === undefined) throw new Error('a run that ran is not in the state');
    // Who cancelled it wants it quiet: messages wait for the next word of anybody.
    this.#init.tree.idle(this.id, record.status === 'cancelled' ? 0 : loop.leftWaiting);
    return runEndOf(record, fault);
  }

  async #setPolicy(payload: EnginePayload): Promise<void> {
    if (this.#closing.signal.aborted) throw shuttingDown();
    const { policy } = this.#init.tree;
    policy.append(payload, policy.state.activeRun?.runId ?? null);
    await policy.sync();
  }
}

function notActive(runId: string): Error {
  return engineError('ENGINE_RUN_NOT_ACTIVE', `the run ${runId} is not active in this session`);
}
