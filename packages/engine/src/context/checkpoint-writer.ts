import { historySize, stepTokens } from '../history.ts';
import type { Step } from '../session-state.ts';
import { keptSayings, keptTurns } from './checkpoint-plan.ts';
import { checkpointText } from './checkpoint-text.ts';
import type { ContextLimits } from './context-limits.ts';
import type { ContextPressureInit, ContextPressurePorts, PressureReason } from './context-pressure.ts';
import { FRESH_TURNS } from './elision.ts';
import { bytesOf, textTokens } from './estimate.ts';
import { filesReadLast, rereadFiles, type RereadPorts } from './reread-files.ts';
import { Summarizer } from './summarize.ts';

/** In tokens. */
const LONGEST_SUMMARY = 4096;
const MOST_KEPT = 16_384;

/** In bytes. */
const MOST_SAID = 8 * 1024;
const MOST_FILES = 128 * 1024;

/** A checkpoint that frees less than this part of what is aimed at costs more than it brings. */
const LEAST_GAIN = 0.2;

export interface CheckpointRequest {
  readonly goal: ContextLimits;
  /** Tokens of the request beside its messages. */
  readonly fixed: number;
  readonly reason: PressureReason;
  /** The request does not fit as it is: a small gain is better than none. */
  readonly isPressing: boolean;
}

/** What is to be covered, and with how much. */
interface Plan {
  readonly covered: readonly Step[];
  /** Tokens for the summary. */
  readonly summary: number;
}

/** Puts a checkpoint in place of older turns, and files back in sight (SES-8). */
export class CheckpointWriter {
  readonly #ports: ContextPressurePorts & Pick<RereadPorts, 'grants'>;
  readonly #init: ContextPressureInit;
  readonly #summarizer: Summarizer;

  constructor(ports: ContextPressurePorts & Pick<RereadPorts, 'grants'>, init: ContextPressureInit) {
    this.#ports = ports;
    this.#init = init;
    this.#summarizer = new Summarizer(ports);
  }

  /** Tokens of the request if all but the newest turns were gone. */
  least(fixed: number): number {
    const { tokens } = historySize(this.#ports.state);
    return fixed + tokens - sum(stepTokens(this.#ports.state).slice(0, -FRESH_TURNS));
  }

  /** Resolves with whether one was written; false where there is nothing worth it. */
  async write(request: CheckpointRequest, signal: AbortSignal): Promise<boolean> {
    const { state, sink, attempts } = this.#ports;
    const { context } = state;
    const plan = this.#plan(request);
    const last = plan?.covered.at(-1);
    if (plan === null || last === undefined) return false;
    const summary = await this.#summarizer.write(
      {
        sessionId: this.#init.plan.session.id,
        checkpoints: context.checkpoints,
        earlier: context.summary?.text ?? null,
        // What no model has summarized is still there to be.
        steps: plan.covered.slice(context.summary?.covered ?? 0),
        maxOutputTokens: plan.summary,
        info: attempts.client.info,
        attempts: attempts.aside(),
      },
      signal,
    );
    signal.throwIfAborted();
    sink.append({
      type: 'context_checkpoint_committed',
      through_seq: last.seq,
      summary: summary.text,
      said: [...keptSayings(plan.covered, Math.min(MOST_SAID, bytesOf(plan.summary)))],
      model: summary.model,
      reason: request.reason,
    });
    if (summary.usage !== null) sink.append(summary.usage);
    await sink.sync();
    return true;
  }

  /** Reads the files again that the covered turns had read last, as far as they fit. */
  async rehydrate(maxBytes: number, signal: AbortSignal): Promise<void> {
    const { state, sink, attempts } = this.#ports;
    const { plan, outputLimits: limits, policy } = this.#init;
    const { covered } = state.context;
    const { info } = attempts.client;
    const files = await rereadFiles(
      { ...this.#ports, limits },
      {
        reads: filesReadLast(state.steps.slice(0, covered), state.steps.slice(covered)),
        session: plan.session,
        tools: plan.publishedTo(info),
        model: info,
        rules: { document: plan.agent.permissions, overlay: policy.overlay },
        mode: policy.mode,
        maxBytes: Math.min(MOST_FILES, maxBytes),
      },
      signal,
    );
    if (files.length === 0) return;
    sink.append({ type: 'context_rehydrated', files: [...files] });
    await sink.sync();
  }

  #plan({ goal, fixed, reason, isPressing }: CheckpointRequest): Plan | null {
    const { state, attempts } = this.#ports;
    const { context, steps } = state;
    const { outputTokens } = attempts.client.info;
    const summary = Math.max(1, Math.min(LONGEST_SUMMARY, outputTokens, Math.floor(goal.trigger / 8)));
    const { tokens } = historySize(state);
    const turns = stepTokens(state);
    const { checkpoint, files } = context;
    const replaced = checkpoint === null ? 0 : textTokens(checkpointText(checkpoint, files));
    // The summary, and as much again of what the user said.
    const taken = fixed + tokens - sum(turns) - replaced + 2 * summary;
    // What a provider refused may be large in ways that we do not count, such as pictures: only what is new stays.
    const keep = reason === 'overflow' ? 0 : Math.min(MOST_KEPT, (goal.trigger - taken) / 2);
    const kept = keptTurns(turns, { keep, room: goal.room - taken });
    const covered = steps.slice(0, steps.length - kept);
    const gain = sum(turns.slice(0, turns.length - kept));
    if (covered.length <= context.covered) return null;
    return isPressing || gain >= goal.trigger * LEAST_GAIN ? { covered, summary } : null;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
