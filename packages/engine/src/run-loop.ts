import type {
  AssistantToolCall,
  Clock,
  FinishReason,
  Ids,
  ModelClient,
  ModelRequest,
} from '@agentd/contract';
import { toolDefinitions } from './calls/publication.ts';
import type { TurnCalls } from './calls/turn-calls.ts';
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
  readonly attempts: ModelAttempts;
  readonly calls: TurnCalls;
}

export interface RunLoopInit {
  readonly runId: string;
  readonly plan: RunPlan;
  /** Model turns; the one after the last is not asked for. */
  readonly maxTurns: number;
  readonly timeoutMs: number;
  readonly acceptsStdin: boolean;
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
 *   L3. What a user says meanwhile enters between turns alone, and a run does not end before it was answered.
 *   L4. After `cancel` nothing new starts, whatever the run waits for.
 */
export class RunLoop {
  readonly #ports: RunLoopPorts;
  readonly #init: RunLoopInit;
  readonly #abort = new AbortController();
  #cancelReason: CancelReason | undefined;

  constructor(ports: RunLoopPorts, init: RunLoopInit) {
    this.#ports = ports;
    this.#init = init;
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
      sink.append(this.#endOf(thrown));
    } finally {
      stopTimer();
    }
    await sink.sync();
  }

  async #turns(): Promise<void> {
    const { state, sink } = this.#ports;
    for (let turn = 0; turn < this.#init.maxTurns; turn += 1) {
      this.#abort.signal.throwIfAborted();
      const { calls, ...committed } = await this.#modelTurn();
      if (calls.length > 0) {
        await this.#runCalls({ calls, ...committed });
      } else if (state.pendingInputs.length > 0) {
        await sink.sync();
      } else {
        // Nothing may come between the look at the inputs and this event (L3): no await here.
        sink.append(completed(state));
        return;
      }
    }
    this.#abort.signal.throwIfAborted();
    sink.append({ type: 'run_cancelled', reason: 'turn_limit' });
  }

  async #modelTurn(): Promise<CommittedTurn> {
    const { attempts, ids, sink, state } = this.#ports;
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
      session,
    });
  }

  async #runCalls({ calls, client, finishReason }: CommittedTurn): Promise<void> {
    const { runId, plan, acceptsStdin } = this.#init;
    const { state } = this.#ports;
    await this.#ports.calls.run(
      {
        runId,
        session: plan.session,
        calls,
        tools: plan.publishedTo(client.info),
        model: client.info,
        rules: { document: plan.agent.permissions, overlay: state.overlay },
        mode: state.mode,
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

function outputBound(documented: number | null, advertised: number): { readonly maxOutputTokens?: number } {
  return documented === null ? {} : { maxOutputTokens: Math.min(documented, advertised) };
}
