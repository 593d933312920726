import type { CallReport, SessionId, ToolDefinition } from '@agentd/contract';
import type { PermissionRule } from './agent-document.ts';
import { toolDefinitions } from './calls/publication.ts';
import { TurnCalls } from './calls/turn-calls.ts';
import { engineError } from './errors.ts';
import type { EnginePayload, PermissionMode } from './events.ts';
import { faultOf } from './fault.ts';
import { runHandCall } from './hand-call.ts';
import { ModelAttempts } from './model-attempts.ts';
import type { EnginePorts, EngineSettings, LogDiagnostic } from './ports.ts';
import { runEndOf, type RunEnd } from './run-end.ts';
import { RunLoop, type CancelReason } from './run-loop.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { notesLoaded, runStart, userInput } from './run-start.ts';
import type { HandCallInit, RunInit, Session, StartedRun, StdinInput } from './session.ts';
import type { SessionJournal } from './session-journal.ts';
import type { SessionState } from './session-state.ts';

export interface SessionActorInit {
  readonly id: SessionId;
  readonly ports: EnginePorts;
  readonly settings: EngineSettings;
  readonly journal: SessionJournal;
  readonly diagnostics: readonly LogDiagnostic[];
  /** Closes the log and lets the lock go. */
  readonly release: () => Promise<void>;
}

interface ActiveRun {
  readonly runId: string;
  readonly loop: RunLoop;
  readonly calls: TurnCalls;
  /** Rejects where the log failed. */
  readonly ran: Promise<void>;
  readonly done: Promise<RunEnd>;
}

/** Holds the session's place from the claim until a run is active, or a call by hand is over. */
interface Occupied {
  readonly clientRunId: string;
  readonly settled: Promise<unknown>;
  /** Null for a call by hand. */
  readonly started: Promise<StartedRun> | null;
}

/**
 * Owns one session.
 *   T1. At most one run, or one call by hand, at a time; between the check and the claim there is no gap.
 *   T2. A client run id starts at most one run, over crashes too.
 *   T3. What is refused has written nothing.
 *   T4. After `close` began nothing starts; it ends when the log is closed.
 */
export class SessionActor implements Session {
  readonly id: SessionId;
  readonly diagnostics: readonly LogDiagnostic[];
  readonly #init: SessionActorInit;
  readonly #closing = new AbortController();
  #occupied: Occupied | null = null;
  #active: ActiveRun | null = null;
  #closed: Promise<void> | undefined;

  constructor(init: SessionActorInit) {
    this.id = init.id;
    this.diagnostics = init.diagnostics;
    this.#init = init;
  }

  get state(): SessionState {
    return this.#init.journal.state;
  }

  get handle(): string {
    return this.state.header.handle;
  }

  async setMode(mode: PermissionMode): Promise<void> {
    await this.#record({ type: 'permission_mode_set', mode });
  }

  async setOverlay(rules: readonly PermissionRule[]): Promise<void> {
    await this.#record({ type: 'permission_overlay_set', rules: rules.map((rule) => ({ ...rule })) });
  }

  async startRun(init: RunInit): Promise<StartedRun> {
    const { clientRunId } = init;
    const starting = this.#occupied?.clientRunId === clientRunId ? this.#occupied.started : null;
    if (starting !== null) return { ...(await starting), existing: true };
    const known = this.#known(clientRunId);
    if (known !== undefined) return known;
    this.#assertFree();
    const started = this.#start(init);
    return this.#occupy({ clientRunId, settled: started, started }, started);
  }

  async callTool(init: HandCallInit, signal: AbortSignal): Promise<CallReport> {
    const { clientRunId } = init;
    if (this.state.runByClientId(clientRunId) !== undefined)
      throw engineError('ENGINE_RUN_ID_USED', `the client run id ${clientRunId} was used before`);
    this.#assertFree();
    const called = this.#call(init, AbortSignal.any([signal, this.#closing.signal]));
    return this.#occupy({ clientRunId, settled: called, started: null }, called);
  }

  async publishedTools(agent?: string): Promise<readonly ToolDefinition[]> {
    const plan = await this.#plan(null, agent);
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

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort('signal');
    await Promise.allSettled([this.#occupied?.settled]);
    this.#active?.loop.cancel('signal');
    await this.#active?.done;
    await this.#init.release().catch((error: unknown) => {
      if (!this.#init.journal.faultTold) throw error;
    });
  }

  #assertFree(): void {
    if (this.#closing.signal.aborted) throw shuttingDown();
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
    }
  }

  #known(clientRunId: string): StartedRun | undefined {
    const record = this.state.runByClientId(clientRunId);
    if (record === undefined) return undefined;
    const { runId } = record;
    const done = this.#active?.runId === runId ? this.#active.done : Promise.resolve(runEndOf(record));
    return { runId, existing: true, done };
  }

  async #start(init: RunInit): Promise<StartedRun> {
    const { journal, ports } = this.#init;
    const input = userInput(ports.ids, { text: init.input, kind: 'prompt' });
    const plan = await this.#plan(init.models, init.agent);
    const notes = notesLoaded(await ports.notes.load(plan.session.cwd), journal.notes);
    const start = runStart({ plan, clientRunId: init.clientRunId, mode: this.state.mode });
    const runId = await this.#writeStart(start, [...notes, input]);
    return { runId, existing: false, done: this.#activate(runId, { plan, init }).done };
  }

  async #call(init: HandCallInit, signal: AbortSignal): Promise<CallReport> {
    const plan = await this.#plan(null, init.agent);
    const start = runStart({ plan, clientRunId: init.clientRunId, mode: this.state.mode });
    const runId = await this.#writeStart(start, []);
    const { ids } = this.#init.ports;
    const ports = {
      ids,
      state: this.state,
      sink: this.#init.journal.sinkOf(runId),
      calls: this.#calls(runId),
    };
    return runHandCall(ports, { runId, plan, tool: init.tool, args: init.args }, signal);
  }

  async #plan(models: readonly string[] | null, agent?: string): Promise<RunPlan> {
    const { agents, models: source, tools } = this.#init.ports;
    const { agent: own, cwd } = this.state.header;
    const session = { id: this.id, cwd, agent: agent ?? own };
    const { overlay } = this.state;
    return planRun({ agents, models: source, providers: tools }, { session, overlay, models });
  }

  /** SES-2: resolves once it is on disk. */
  async #writeStart(start: EnginePayload, rest: readonly EnginePayload[]): Promise<string> {
    if (this.#closing.signal.aborted) throw shuttingDown();
    const { journal, ports } = this.#init;
    const runId = ports.ids.uuid();
    for (const payload of [start, ...rest]) journal.append(payload, runId);
    await journal.sync();
    return runId;
  }

  #activate(runId: string, { plan, init }: { plan: RunPlan; init: RunInit }): ActiveRun {
    const { maxTurns, timeoutMs, acceptsStdin = false, models } = init;
    const { ports, settings, journal } = this.#init;
    const { clock, ids } = ports;
    const sink = journal.sinkOf(runId);
    const calls = this.#calls(runId);
    if (plan.client === null) throw new Error('a run was planned without a model');
    const attempts = new ModelAttempts(
      { clock, ids, models: ports.models, sink, live: journal.live, retry: settings.retry },
      models,
      plan.client,
    );
    const loop = new RunLoop(
      { clock, ids, state: this.state, sink, attempts, calls },
      { runId, plan, maxTurns, timeoutMs, acceptsStdin },
    );
    const ran = loop.run();
    this.#active = { runId, loop, calls, ran, done: this.#ended(init.clientRunId, ran) };
    return this.#active;
  }

  async #ended(clientRunId: string, ran: Promise<void>): Promise<RunEnd> {
    const fault = await ran.then(() => null, faultOf);
    this.#active = null;
    const record = this.state.runByClientId(clientRunId);
    if (record === undefined) throw new Error('a run that ran is not in the state');
    return runEndOf(record, fault);
  }

  #calls(runId: string): TurnCalls {
    const { ports, settings, journal } = this.#init;
    const { clock, ids, outputs, attachments, approver } = ports;
    const { outputLimits: limits } = settings;
    return new TurnCalls({
      clock,
      ids,
      outputs,
      attachments,
      approver,
      grants: this.state.grants,
      sink: journal.sinkOf(runId),
      live: journal.live,
      limits,
    });
  }

  async #record(payload: EnginePayload): Promise<void> {
    if (this.#closing.signal.aborted) throw shuttingDown();
    const { journal } = this.#init;
    journal.append(payload, this.state.activeRun?.runId ?? null);
    await journal.sync();
  }
}

function notActive(runId: string): Error {
  return engineError('ENGINE_RUN_NOT_ACTIVE', `the run ${runId} is not active in this session`);
}

function shuttingDown(): Error {
  return engineError('ENGINE_SHUTTING_DOWN', 'the session is closing');
}
