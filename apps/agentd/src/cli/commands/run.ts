import { randomIds, systemClock } from '@agentd/contract';
import type { RunEnd, Session, StartedRun } from '@agentd/engine';
import { asSetUp } from '../../faults.ts';
import { chooseModels } from '../../models/choose-models.ts';
import { runOutput, type OutputFormat } from '../../run/run-output.ts';
import { summaryOf } from '../../run/run-summary.ts';
import { openActing, planActing, type ActingPlan } from '../../session/acting-session.ts';
import { titleFrom } from '../../session/session-title.ts';
import { onInterruption } from '../interruption.ts';
import type { SessionOptions } from '../options.ts';
import { readPrompt } from '../prompt-input.ts';
import type { Screen } from '../screen.ts';

export interface RunOptions extends SessionOptions {
  readonly model?: string;
  readonly file?: string;
  readonly output: OutputFormat;
  readonly maxTurns: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly failOnDenial?: boolean;
}

/** `run`: one headless run, from the prompt to its exit code (CLI-3). */
export async function run(
  argument: string | undefined,
  options: RunOptions,
  screen: Screen,
): Promise<number> {
  const input = await readPrompt({ argument, file: options.file });
  using interruption = onInterruption();
  const plan = await planActing(options);
  if (plan.situation.skipped !== null) screen.tell(plan.situation.skipped);
  const models = await usableModels(plan, options.model);
  const output = runOutput(options.output, screen, systemClock);
  try {
    const opening = openActing(plan, { ...options, title: titleFrom(input) }, output.listener);
    const session = await asSetUp(opening);
    const start = {
      clientRunId: randomIds.uuid(),
      input,
      agent: plan.agent.id,
      models,
      maxTurns: options.maxTurns,
      timeoutMs: options.timeout,
    };
    const started = await asSetUp(session.startRun(start));
    output.begin();
    const stop = AbortSignal.any([interruption.signal, screen.closed]);
    const end = await endOf(session, started, stop);
    const identity = { sessionId: session.id, runId: started.runId };
    const summary = summaryOf(end, { ...identity, failOnDenial: options.failOnDenial === true });
    output.finish(summary);
    await plan.app.collect();
    return summary.exit_code;
  } finally {
    // A log that can no longer be written has told so as the run's failure.
    await plan.app.engine.stop().catch(() => undefined);
  }
}

/** The chain of models, each of them open to use: nothing is written for a run that could not even ask. */
async function usableModels(
  { app, agent, situation }: ActingPlan,
  asked: string | undefined,
): Promise<readonly string[]> {
  const models = chooseModels({
    asked,
    agent,
    configured: situation.settings.model,
    byKey: app.models.defaultModel(),
  });
  for (const model of models) await app.models.open(model);
  return models;
}

/** Waits for the run's end; a signal cancels it, and its end is then on disk all the same. */
async function endOf(session: Session, { runId, done }: StartedRun, stop: AbortSignal): Promise<RunEnd> {
  const cancel = (): void => void session.cancel(runId, 'signal').catch(() => undefined);
  if (stop.aborted) cancel();
  stop.addEventListener('abort', cancel, { once: true });
  try {
    return await done;
  } finally {
    stop.removeEventListener('abort', cancel);
  }
}
