import {
  isModelError,
  type AssistantToolCall,
  type Clock,
  type FinishReason,
  type Ids,
  type Inbox,
  type InboxBoundary,
  type ModelClient,
  type ModelRequest,
} from '@agentd/contract';
import { toolDefinitions } from './calls/publication.ts';
import type { TurnCalls } from './calls/turn-calls.ts';
import type { ContextPressure } from './context/context-pressure.ts';
import type { EnginePayload, EventOf } from './events.ts';
import { faultOf } from './fault.ts';
import { modelMessages } from './history.ts';
import type { ModelAttempts } from './model-attempts.ts';
import type { EventSink } from './ports.ts';
import { providerCallIds } from './provider-call-ids.ts';
import type { RunPlan } from './run-plan.ts';
import type { SessionState } from './session-state.ts';
import { costOf } from './usage-cost.ts';

export type CancelReason = EventOf<'run_cancelled'>['reason'];

export interface RunLoopPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Follows the sink: what is appended is in the state at once. */
  readonly state: SessionState;
  readonly sink: EventSink;
  readonly inbox: Inbox;
  readonly attempts: ModelAttempts;
  readonly calls: TurnCalls;
  readonly context: ContextPressure;
}

export interface RunLoopInit {
  readonly runId: string;
  readonly plan: RunPlan;
  /** Model turns; the one after the last is not asked for. */
  readonly maxTurns: number;
  readonly timeoutMs: number;
  readonly acceptsStdin: boolean;
  /** Mode and overlay of the session's tree, as they stand now (PERM-6). */
  readonly policy: Pick<SessionState, 'mode' | 'overlay'>;
  /** Whether this run may answer the agent with this handle (MSG-9). */
  readonly canReply: InboxBoundary['canReply'];
}

interface CommittedTurn {
  readonly client: ModelClient;
  readonly finishReason: FinishReason;
  readonly calls: readonly AssistantToolCall[];
}

/**
 * One run after its start is on disk: request, turn, calls, boundary, and again (SES-5).
 *   L1. Exactly one terminal event, after everything else of the run; it is on disk when `run` resolves.
 *   L2. What is not whole is not committed: neither a turn that was cut nor anything of an abandoned attempt.
 *   L3. What a user says meanwhile enters between turns alone, and a run does not end before it was answered. So do
 *       messages, after the user's words; those that nobody answered are given back at the end (MSG-10).
 *   L4. After `cancel` nothing new starts, whatever the run waits for.
 */
export class RunLoop {
  readonly #ports: RunLoopPorts;
  readonly #init: RunLoopInit;
  readonly #abort = new AbortController();
  #cancelReason: CancelReason | undefined;
  #leftWaiting = 0;

  constructor(ports: RunLoopPorts, init: RunLoopInit) {
    this.#ports = ports;
    this.#init = init;
  }

  /** How many messages wait at the end that this run never took; those that it gave back are not among them. */
  get leftWaiting(): number {
    return this.#leftWaiting;
  }

  /** The first reason counts. */
  cancel(reason: CancelReason): void {
    this.#cancelReason ??= reason;
    this.#abort.abort(this.#cancelReason);
  }

  /** Rejects only where the log can no longer be written. */
  async run(): Promise<void> {
    const { clock, sink } = this.#ports;
    const stopTimer = clock.after(this.#init.timeoutMs, () => this.cancel('timeout'));
    try {
      await this.#turns();
    } catch (thrown) {
      this.#end(this.#endOf(thrown));
    } finally {
      stopTimer();
    }
    await sink.sync();
  }

  /** Gives back what the run had claimed and ends it, in one step: a claim outlives its run in no log but a crashed one. */
  #end(end: EnginePayload): void {
    const { inbox, sink } = this.#ports;
    this.#leftWaiting = inbox.waiting;
    inbox.release();
    sink.append(end);
  }

  async #turns(): Promise<void> {
    const { state, sink } = this.#ports;
    const { maxTurns } = this.#init;
    for (let left = maxTurns; left > 0; left -= 1) {
      this.#abort.signal.throwIfAborted();
      this.#claim(left === maxTurns ? 'run_start' : 'between_calls');
      const { calls, ...committed } = await this.#modelTurn();
      if (calls.length > 0) await this.#runCalls({ calls, ...committed });
      else if (this.#goesOn(left - 1)) await sink.sync();
      // Nothing may come between the look at what waits and this event (L3): no await here.
      else return this.#end(completed(state));
    }
    this.#abort.signal.throwIfAborted();
    this.#end({ type: 'run_cancelled', reason: 'turn_limit' });
  }

  /** Whether there is something to answer. Without a turn left, messages wait for the next run. */
  #goesOn(turnsLeft: number): boolean {
    const isAsked = this.#ports.state.pendingInputs.length > 0;
    if (turnsLeft === 0) return isAsked;
    return this.#claim(isAsked ? 'between_calls' : 'run_end') || isAsked;
  }

  #claim(kind: InboxBoundary['kind']): boolean {
    const { runId, canReply } = this.#init;
    return this.#ports.inbox.claim({ runId, kind, canReply }).length > 0;
  }

  /** One turn, with room made for it before, and once more where the provider refuses it all the same (SES-9). */
  async #modelTurn(): Promise<CommittedTurn> {
    const { context } = this.#ports;
    // Before the history is taken: what comes meanwhile still enters this request.
    await this.#init.plan.refresh();
    await context.relieve('size', this.#abort.signal);
    try {
      return await this.#askForTurn();
    } catch (thrown) {
      const isOverflow = isModelError(thrown) && thrown.code === 'MODEL_CONTEXT_OVERFLOW';
      if (!isOverflow || !(await context.relieve('overflow', this.#abort.signal))) throw thrown;
    }
    return this.#askForTurn();
  }

  async #askForTurn(): Promise<CommittedTurn> {
    const { attempts, ids, inbox, sink, state } = this.#ports;
    const inputThrough = state.lastSeq;
    const { client, reducer } = await attempts.turn(this.#requests(), this.#abort.signal);
    const { content, finishReason, usage } = reducer.turn(
      providerCallIds(ids, (id) => state.hasProviderCallId(id)),
    );
    const { id: model, pricing } = client.info;
    sink.append({
      type: 'model_turn_committed',
      model,
      content: [...content],
      finish_reason: finishReason,
      input_through_seq: inputThrough,
    });
    inbox.acknowledge();
    sink.append({ type: 'model_usage_recorded', model, ...usage, cost_usd: costOf(usage, pricing) });
    return { client, finishReason, calls: content.filter((part) => part.type === 'tool_call') };
  }

  /** One history for all attempts at a turn: what comes meanwhile belongs to the next one. */
  #requests(): (client: ModelClient) => ModelRequest {
    const { plan } = this.#init;
    const { state } = this.#ports;
    const messages = modelMessages(state);
    const session = { id: plan.session.id, agent: plan.session.agent, turns: state.turns };
    return ({ info }) => ({
      system: plan.prompt.text,
      messages,
      tools: toolDefinitions(plan.publishedTo(info)),
      ...outputBound(plan.agent.maxOutputTokens, info.outputTokens),
      ...refusedBy(state.refusedFiles(info.id)),
      session,
    });
  }

  async #runCalls({ calls, client, finishReason }: CommittedTurn): Promise<void> {
    const { runId, plan, acceptsStdin, policy } = this.#init;
    await this.#ports.calls.run(
      {
        runId,
        session: plan.session,
        calls,
        tools: plan.publishedTo(client.info),
        model: client.info,
        rules: { document: plan.agent.permissions, overlay: policy.overlay },
        mode: policy.mode,
        truncated: finishReason === 'length',
        acceptsStdin,
      },
      this.#abort.signal,
    );
  }

  #endOf(thrown: unknown): EnginePayload {
    if (this.#cancelReason !== undefined) return { type: 'run_cancelled', reason: this.#cancelReason };
    return { type: 'run_failed', error: faultOf(thrown) };
  }
}

function completed(state: SessionState): EventOf<'run_completed'> {
  return {
    type: 'run_completed',
    final_text: state.lastRun?.finalText ?? '',
    turns: state.lastRun?.turns ?? 0,
  };
}

function refusedBy(refusedFiles: readonly string[]): Pick<ModelRequest, 'refusedFiles'> {
  return refusedFiles.length === 0 ? {} : { refusedFiles };
}

function outputBound(documented: number | null, advertised: number): { readonly maxOutputTokens?: number } {
  return documented === null ? {} : { maxOutputTokens: Math.min(documented, advertised) };
}
