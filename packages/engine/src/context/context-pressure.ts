import {
  isModelError,
  type Clock,
  type Ids,
  type ModelInfo,
  type OutputLimits,
  type OutputStore,
  type Tool,
} from '@agentd/contract';
import { toolDefinitions } from '../calls/publication.ts';
import { historySize } from '../history.ts';
import type { ModelAttempts } from '../model-attempts.ts';
import type { EventSink } from '../ports.ts';
import type { RunPlan } from '../run-plan.ts';
import type { SessionState } from '../session-state.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';
import { contextLimits, type ContextLimits, type ContextSettings } from './context-limits.ts';
import { FRESH_TURNS, bulkOf, bulkyResults, type ElidableCall } from './elision.ts';
import { ElisionWriter } from './elision-writer.ts';
import { bytesOf, contextSize, fixedTokens } from './estimate.ts';

export interface ContextPressurePorts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Follows the sink. */
  readonly state: SessionState;
  readonly sink: EventSink;
  readonly outputs: OutputStore;
  readonly attempts: ModelAttempts;
}

export interface ContextPressureInit {
  readonly plan: RunPlan;
  readonly settings: ContextSettings;
  readonly outputLimits: OutputLimits;
  /** What the tree's rules say now. */
  readonly policy: Pick<SessionState, 'mode' | 'overlay'>;
}

/** Why room is made: by our own reckoning, or because a provider refused the request. */
export type PressureReason = 'size' | 'overflow';

/** What stays to be seen of an output, in characters: little of an old one, more of one that was not worked on yet. */
const SHOWN = { old: 300, fresh: 1200 };

/** The part of what a checkpoint has freed that files may take again. */
const FOR_FILES = 1 / 3;

/** By how much a request is made smaller that a provider refused although it should have fitted. */
const SHRINKING = { trigger: 0.6, room: 0.8 };

/**
 * Makes room in the context of a run (SES-8). The log only grows; the history follows what is added to it.
 *   P1. Nothing is touched while the next request is within the trigger, unless a provider has refused it.
 *   P2. First old bulky outputs go, all at once, so that the cache of a provider is spoilt seldom.
 *   P3. Then, if still over, the older turns become a checkpoint, and the files read last are read again.
 *   P4. Outputs of the newest turns go only where the request would not fit at all.
 *   P5. Whatever fails or is cancelled here, each event that was written is whole and valid by itself.
 */
export class ContextPressure {
  readonly #ports: ContextPressurePorts;
  readonly #init: ContextPressureInit;
  readonly #elisions: ElisionWriter;
  readonly #checkpoints: CheckpointWriter;
  /** Counted once for each set of tools: the prompt stands for the whole run. */
  readonly #fixed = new WeakMap<ReadonlyMap<string, Tool>, number>();

  constructor(ports: ContextPressurePorts, init: ContextPressureInit) {
    this.#ports = ports;
    this.#init = init;
    this.#elisions = new ElisionWriter(ports);
    this.#checkpoints = new CheckpointWriter({ ...ports, grants: ports.state.grants }, init);
  }

  /**
   * Call it between turns, before the request. Resolves with whether anything was taken out. Throws the signal's
   * reason, and what the log throws.
   */
  async relieve(reason: PressureReason, signal: AbortSignal): Promise<boolean> {
    const { state } = this.#ports;
    const { info } = this.#ports.attempts.client;
    const size = this.#size(info);
    const limits = this.#limits(info);
    if (reason === 'size' && size <= limits.trigger) return false;
    const goal = reason === 'size' ? limits : shrunk(limits, size);
    const before = state.context.revision;
    await this.#elisions.elide(bulkyResults(this.#oldSteps()), SHOWN.old);
    signal.throwIfAborted();
    await this.#elideFresh(this.#checkpoints.least(this.#fixedOf(info)) - goal.room);
    // A provider that refused has shown that our reckoning is off: what elision gained may not be enough.
    if (reason === 'overflow' || this.#size(info) > goal.trigger)
      await this.#checkpoint(goal, reason, signal);
    await this.#elideFresh(this.#size(info) - goal.room);
    return state.context.revision !== before;
  }

  async #checkpoint(goal: ContextLimits, reason: PressureReason, signal: AbortSignal): Promise<void> {
    const { info } = this.#ports.attempts.client;
    const fixed = this.#fixedOf(info);
    const isPressing = reason === 'overflow' || this.#size(info) > goal.room;
    try {
      if (!(await this.#checkpoints.write({ goal, fixed, reason, isPressing }, signal))) return;
    } catch (thrown) {
      // The provider is out of reach; the request itself will tell, and the log stays as it was.
      if (reason === 'size' && isModelError(thrown)) return;
      throw thrown;
    }
    const left = goal.trigger - this.#size(info);
    await this.#checkpoints.rehydrate(bytesOf(left * FOR_FILES), signal);
  }

  /** Takes out the largest outputs of the newest turns until so many tokens are free. */
  async #elideFresh(excess: number): Promise<void> {
    if (excess <= 0) return;
    const { steps, context } = this.#ports.state;
    const fresh = steps.slice(Math.max(context.covered, steps.length - FRESH_TURNS));
    const chosen: ElidableCall[] = [];
    let left = bytesOf(excess);
    for (const call of bulkyResults(fresh).toSorted((a, b) => bulkOf(b.report) - bulkOf(a.report))) {
      if (left <= 0) break;
      chosen.push(call);
      left -= bulkOf(call.report);
    }
    await this.#elisions.elide(chosen, SHOWN.fresh);
  }

  #oldSteps() {
    const { steps, context } = this.#ports.state;
    return steps.slice(context.covered, Math.max(context.covered, steps.length - FRESH_TURNS));
  }

  #size(info: ModelInfo): number {
    const { state } = this.#ports;
    const history = historySize(state);
    return contextSize({ history, fixed: this.#fixedOf(info), counted: state.context });
  }

  #limits(info: ModelInfo): ContextLimits {
    const { plan, settings } = this.#init;
    return contextLimits(info, plan.agent.maxOutputTokens, settings);
  }

  #fixedOf(info: ModelInfo): number {
    const { plan } = this.#init;
    const published = plan.publishedTo(info);
    let tokens = this.#fixed.get(published);
    if (tokens === undefined) {
      tokens = fixedTokens({ system: plan.prompt.text, tools: toolDefinitions(published) });
      this.#fixed.set(published, tokens);
    }
    return tokens;
  }
}

function shrunk({ trigger, room }: ContextLimits, size: number): ContextLimits {
  return {
    trigger: Math.min(trigger, Math.floor(size * SHRINKING.trigger)),
    room: Math.min(room, Math.floor(size * SHRINKING.room)),
  };
}
