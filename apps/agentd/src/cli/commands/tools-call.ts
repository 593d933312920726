import { randomIds, type CallReport } from '@agentd/contract';
import { modelTextOf } from '@agentd/engine';
import { EXIT } from '../../exit-codes.ts';
import { asSetUp } from '../../faults.ts';
import { openActing, planActing } from '../../session/acting-session.ts';
import { onInterruption } from '../interruption.ts';
import { oneLine } from '../one-line.ts';
import type { DataOptions, SessionOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

export interface CallArguments {
  readonly name: string;
  /** JSON text, as it was typed. */
  readonly args: string;
}

/** `tools call`: one call through the real pipeline (CLI-6). */
export async function callTool(
  { name, args }: CallArguments,
  options: SessionOptions & DataOptions,
  screen: Screen,
): Promise<number> {
  using interruption = onInterruption();
  const plan = await planActing(options, { warn: (line) => screen.tell(`agentd: ${oneLine(line)}`) });
  if (plan.situation.skipped !== null) screen.tell(plan.situation.skipped);
  try {
    const session = await asSetUp(openActing(plan, { ...options, title: `tools call ${name}` }, {}));
    const stop = AbortSignal.any([interruption.signal, screen.closed]);
    const call = { clientRunId: randomIds.uuid(), tool: name, args, agent: plan.agent.id };
    const report = await session.callTool(call, stop);
    screen.show(options.json === true ? `${JSON.stringify(shown(report))}\n` : lineEnded(textOf(report)));
    await plan.app.collect();
    return report.outcome === 'completed' ? EXIT.completed : EXIT.failed;
  } finally {
    await plan.app.engine.stop();
  }
}

function textOf(report: CallReport): string {
  return modelTextOf({ result: report, error: report.error });
}

function lineEnded(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Exactly the fields of CLI-6, in its order. */
function shown(report: CallReport): CallReport {
  const { outcome, text, metadata, display, attachments, retained_output, error } = report;
  const { session_id, run_id, tool_call_id } = report;
  const result = { outcome, text, metadata, display, attachments, retained_output, error };
  return { ...result, session_id, run_id, tool_call_id };
}
