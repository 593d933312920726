import type { AssistantToolCall, CallReport, Ids } from '@agentd/contract';
import type { TurnCalls } from './calls/turn-calls.ts';
import type { EnginePayload } from './events.ts';
import { faultOf } from './fault.ts';
import type { EventSink } from './ports.ts';
import type { RunPlan } from './run-plan.ts';
import type { SessionState } from './session-state.ts';
import { parseArguments } from './tool-arguments.ts';

export interface HandCallPorts {
  readonly ids: Ids;
  /** Mode and overlay of the session's tree (PERM-6). */
  readonly policy: Pick<SessionState, 'mode' | 'overlay'>;
  readonly sink: EventSink;
  readonly calls: TurnCalls;
}

export interface HandCall {
  readonly runId: string;
  readonly plan: RunPlan;
  readonly tool: string;
  readonly args: string;
}

/**
 * Runs one call that no model made, after the start of its run is on disk, and ends that run (CLI-6). It stands in no
 * turn: the history of later runs, and the count of turns that a script goes by, do not know it.
 */
export async function runHandCall(
  ports: HandCallPorts,
  call: HandCall,
  signal: AbortSignal,
): Promise<CallReport> {
  try {
    const report = await execute(ports, call, signal);
    ports.sink.append(endOf(signal));
    return report;
  } catch (thrown) {
    ports.sink.append({ type: 'run_failed', error: faultOf(thrown) });
    throw thrown;
  } finally {
    await ports.sink.sync();
  }
}

async function execute(
  { ids, policy, calls }: HandCallPorts,
  { runId, plan, tool, args }: HandCall,
  signal: AbortSignal,
): Promise<CallReport> {
  const { reports } = await calls.run(
    {
      runId,
      session: plan.session,
      calls: [handMadeCall({ id: `call_${ids.hex(24)}`, tool, args })],
      tools: plan.publishedTo(null),
      model: null,
      rules: { document: plan.agent.permissions, overlay: policy.overlay },
      mode: policy.mode,
    },
    signal,
  );
  const [report] = reports;
  if (report === undefined) throw new Error(`the call of ${tool} has no report`);
  return report;
}

function handMadeCall({ id, tool, args }: { id: string; tool: string; args: string }): AssistantToolCall {
  // A person who gives no text at all has forgotten it; a provider may mean no arguments.
  const { input, raw } = args.trim() === '' ? { input: {}, raw: args } : parseArguments(args);
  return {
    type: 'tool_call',
    provider_call_id: id,
    tool,
    input,
    ...(raw === undefined ? {} : { raw_input: raw }),
  };
}

function endOf(signal: AbortSignal): EnginePayload {
  return signal.aborted
    ? { type: 'run_cancelled', reason: 'signal' }
    : { type: 'run_completed', final_text: '', turns: 0 };
}
