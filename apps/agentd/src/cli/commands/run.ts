import { messageOf, randomIds, systemClock } from '@agentd/contract';
import type { SessionListener } from '@agentd/engine';
import { asSetUp } from '../../faults.ts';
import { chooseModels } from '../../models/choose-models.ts';
import { RunBudget } from '../../run/run-budget.ts';
import { runOutput, type OutputFormat } from '../../run/run-output.ts';
import { summaryOf } from '../../run/run-summary.ts';
import { treeEnd } from '../../run/tree-run.ts';
import { TreeTally } from '../../run/tree-tally.ts';
import { openActing, planActing, type ActingPlan } from '../../session/acting-session.ts';
import { titleFrom } from '../../session/session-title.ts';
import { onInterruption } from '../interruption.ts';
import { oneLine } from '../one-line.ts';
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

/** `run`: one headless run, from the prompt until its tree is quiet, and its exit code (CLI-3, CLI-4). */
export async function run(
  argument: string | undefined,
  options: RunOptions,
  screen: Screen,
): Promise<number> {
  const input = await readPrompt({ argument, file: options.file });
  using interruption = onInterruption();
  const { maxTurns, timeout: timeoutMs } = options;
  const tally = new TreeTally();
  const budget = new RunBudget({ clock: systemClock, tally, maxTurns, timeoutMs });
  const plan = await planActing(options, {
    warn: (line) => screen.tell(`agentd: ${oneLine(line)}`),
    limit: budget.limit,
    cannotWake: (_, error) =>
      screen.tell(`agentd: ${oneLine(`a message could not wake its session: ${messageOf(error)}`)}`),
  });
  if (plan.situation.skipped !== null) screen.tell(plan.situation.skipped);
  const models = await usableModels(plan, options.model);
  const output = runOutput(options.output, screen, systemClock);
  try {
    const listener = both(tally, output.listener);
    const session = await asSetUp(openActing(plan, { ...options, title: titleFrom(input) }, listener));
    const start = { clientRunId: randomIds.uuid(), input, agent: plan.agent.id, models, maxTurns, timeoutMs };
    const started = await asSetUp(session.startRun(start));
    output.begin(session.id);
    await session.resume();
    const stop = AbortSignal.any([interruption.signal, screen.closed]);
    const waiting = { clock: systemClock, tally, msLeft: () => budget.msLeft };
    const { end, runId } = await treeEnd({ session, started }, waiting, stop);
    const identity = { sessionId: session.id, runId };
    const summary = summaryOf(end, { ...identity, failOnDenial: options.failOnDenial === true });
    output.finish(summary);
    await plan.app.collect();
    return summary.exit_code;
  } finally {
    // A log that can no longer be written has told so as the run's failure.
    await plan.app.engine.stop().catch(() => undefined);
  }
}

/** The tally first: what the output shows of an event counts it already. */
function both(tally: TreeTally, { event, live }: SessionListener): SessionListener {
  return {
    event: (one) => {
      tally.event(one);
      event?.(one);
    },
    live: (one, sessionId) => live?.(one, sessionId),
  };
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
