import type { CallReport, Clock, Ids, SessionId, ToolProvider } from '@agentd/contract';
import { TurnCalls } from './calls/turn-calls.ts';
import { DEFAULT_CONTEXT } from './context/context-limits.ts';
import { ContextPressure } from './context/context-pressure.ts';
import { engineError } from './errors.ts';
import type { EnginePayload, EventOf } from './events.ts';
import { runHandCall } from './hand-call.ts';
import { ModelAttempts } from './model-attempts.ts';
import type { RuleLayers } from './permissions/decide.ts';
import type { GrantView } from './permissions/grants.ts';
import type { EnginePorts, EngineSettings } from './ports.ts';
import { RunLoop } from './run-loop.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { notesLoaded, runStart, userInput } from './run-start.ts';
import type { HandCallInit, RunInit } from './session.ts';
import type { SessionJournal } from './session-journal.ts';

export interface RunLaunchInit {
  readonly id: SessionId;
  readonly ports: RunPorts;
  readonly settings: EngineSettings;
  readonly journal: SessionJournal;
  readonly tree: Pick<ActorTree, 'policy' | 'canReply' | 'grants'>;
}

/** What runs ask of others. */
export interface RunPorts extends Pick<
  EnginePorts,
  'outputs' | 'attachments' | 'models' | 'agents' | 'notes' | 'approver'
> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tools: () => readonly ToolProvider[];
}

/** What a session needs of its tree. */
export interface ActorTree {
  /** Where the tree's mode and overlay stand: the root's log (PERM-6). */
  readonly policy: SessionJournal;
  /** What the user has allowed for good in the tree (PERM-7). */
  readonly grants: GrantView;
  /** Whether a session under these rules may answer the agent with this handle (MSG-9). */
  readonly canReply: (sessionId: SessionId, handle: string, rules: RuleLayers) => boolean;
  /**
   * A run or a call by hand is over, or did not begin; `left` messages wait that it never took.
   * Contract: returns at once.
   */
  readonly idle: (sessionId: SessionId, left: number) => void;
  readonly resume: () => Promise<void>;
  readonly quiet: () => Promise<void>;
  /** Ends the use of a session that a caller had opened. */
  readonly leave: (sessionId: SessionId) => Promise<void>;
}

/** A run as an actor starts it; without `input` it is there for the messages that wait. */
export interface ActorRunInit extends Omit<RunInit, 'input'> {
  readonly input: string | null;
  readonly trigger: EventOf<'run_started'>['trigger'];
}

export interface LaunchedRun {
  readonly runId: string;
  readonly loop: RunLoop;
  readonly calls: TurnCalls;
  /** Rejects where the log failed. */
  readonly ran: Promise<void>;
}

/** Gets the runs and hand-made calls of one session going. What is refused has written nothing. */
export class RunLaunch {
  readonly #init: RunLaunchInit;

  constructor(init: RunLaunchInit) {
    this.#init = init;
  }

  async plan(models: readonly string[] | null, agent?: string): Promise<RunPlan> {
    const { id, ports, journal, tree } = this.#init;
    const { agent: own, cwd } = journal.state.header;
    const session = { id, cwd, agent: agent ?? own };
    const { overlay } = tree.policy.state;
    const sources = { agents: ports.agents, models: ports.models, providers: ports.tools() };
    return planRun(sources, { session, overlay, models });
  }

  async start(init: ActorRunInit, closing: AbortSignal): Promise<LaunchedRun> {
    const { journal, ports } = this.#init;
    const input = init.input === null ? [] : [userInput(ports.ids, { text: init.input, kind: 'prompt' })];
    const plan = await this.plan(init.models, init.agent);
    const notes = await this.#notes(plan);
    if (input.length === 0 && journal.inbox.waiting === 0)
      throw engineError('ENGINE_INPUT_EMPTY', 'there is nothing to say: no message waits');
    const runId = await this.#writeStart({ plan, init, rest: [...notes, ...input] }, closing);
    return this.#activate(runId, plan, init);
  }

  async call(init: HandCallInit, signal: AbortSignal, closing: AbortSignal): Promise<CallReport> {
    const plan = await this.plan(null, init.agent);
    const start = { clientRunId: init.clientRunId, trigger: 'user' } as const;
    const runId = await this.#writeStart({ plan, init: start, rest: [] }, closing);
    const { journal, tree, ports } = this.#init;
    const sink = journal.sinkOf(runId);
    const hand = { ids: ports.ids, policy: tree.policy.state, sink, calls: this.#calls(runId) };
    return runHandCall(hand, { runId, plan, tool: init.tool, args: init.args }, signal);
  }

  /** Notes are for root runs: a subagent is told by who starts it (CFG-1). */
  async #notes(plan: RunPlan): Promise<readonly EnginePayload[]> {
    const { journal, ports } = this.#init;
    if (journal.state.header.origin !== null) return [];
    return notesLoaded(await ports.notes.load(plan.session.cwd), journal.notes);
  }

  /** SES-2: resolves once it is on disk. */
  async #writeStart({ plan, init, rest }: Start, closing: AbortSignal): Promise<string> {
    if (closing.aborted) throw shuttingDown();
    const { journal, ports, tree } = this.#init;
    const { clientRunId, trigger } = init;
    const { mode } = tree.policy.state;
    const runId = ports.ids.uuid();
    const start = runStart({ plan, clientRunId, trigger, mode });
    for (const payload of [start, ...rest]) journal.append(payload, runId);
    await journal.sync();
    return runId;
  }

  #activate(runId: string, plan: RunPlan, init: ActorRunInit): LaunchedRun {
    const { maxTurns, timeoutMs, acceptsStdin = false } = init;
    const { id, ports, journal, tree } = this.#init;
    const { clock, ids } = ports;
    const { inbox, state } = journal;
    const sink = journal.sinkOf(runId);
    const calls = this.#calls(runId);
    const policy = tree.policy.state;
    const rules = { document: plan.agent.permissions, overlay: policy.overlay };
    const canReply = (handle: string): boolean => tree.canReply(id, handle, rules);
    const attempts = this.#attempts(runId, plan);
    const context = this.#context(runId, plan, attempts);
    const loop = new RunLoop(
      { clock, ids, state, inbox, sink, attempts, calls, context },
      { runId, plan, maxTurns, timeoutMs, acceptsStdin, policy, canReply },
    );
    return { runId, loop, calls, ran: loop.run() };
  }

  #attempts(runId: string, { client, models: chain }: RunPlan): ModelAttempts {
    const { ports, settings, journal } = this.#init;
    const { clock, ids, models } = ports;
    if (client === null) throw new Error('a run was planned without a model');
    const sink = journal.sinkOf(runId);
    const { retry } = settings;
    return new ModelAttempts({ clock, ids, models, sink, live: journal.live, retry }, chain, client);
  }

  #context(runId: string, plan: RunPlan, attempts: ModelAttempts): ContextPressure {
    const { ports, settings, journal, tree } = this.#init;
    const { clock, ids, outputs } = ports;
    const { outputLimits, context = DEFAULT_CONTEXT } = settings;
    return new ContextPressure(
      { clock, ids, state: journal.state, sink: journal.sinkOf(runId), outputs, attempts },
      { plan, settings: context, outputLimits, policy: tree.policy.state },
    );
  }

  #calls(runId: string): TurnCalls {
    const { ports, settings, journal, tree } = this.#init;
    const { clock, ids, outputs, attachments, approver } = ports;
    const { outputLimits: limits } = settings;
    return new TurnCalls({
      clock,
      ids,
      outputs,
      attachments,
      approver,
      grants: tree.grants,
      sink: journal.sinkOf(runId),
      live: journal.live,
      limits,
    });
  }
}

interface Start {
  readonly plan: RunPlan;
  readonly init: Pick<ActorRunInit, 'clientRunId' | 'trigger'>;
  readonly rest: readonly EnginePayload[];
}

export function shuttingDown(): Error {
  return engineError('ENGINE_SHUTTING_DOWN', 'the session is closing');
}
