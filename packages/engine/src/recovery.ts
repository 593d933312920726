import { messageOf, type CaptureResult, type OutputLimits, type OutputStore } from '@agentd/contract';
import type { OpenCall, StartedCall } from './call-ledger.ts';
import type { EventSink } from './ports.ts';
import type { SessionState } from './session-state.ts';

export interface RecoveryPorts {
  /** Must follow the sink: what is appended is applied to it. */
  readonly state: SessionState;
  readonly sink: EventSink;
  readonly outputs: OutputStore;
  readonly limits: OutputLimits;
}

const INTERRUPTED = 'the engine ended while this call ran; check whether it took effect before you repeat it';

/**
 * Closes what a crash left open (SES-6): each call that had started ends as interrupted and keeps the output that was
 * captured, each question to the user is cancelled, the run ends as interrupted. Calls that never started need no
 * event: the history marks them. Every step is skipped when it is done already, so that a crash in here does no harm.
 */
export async function recover({ state, sink, outputs, limits }: RecoveryPorts): Promise<void> {
  const captured: CaptureResult[] = [];
  for (const approvalId of state.openApprovals) {
    sink.append({
      type: 'approval_finalized',
      approval_id: approvalId,
      decision: 'cancelled',
      source: 'policy',
      feedback: null,
    });
  }
  for (const { started } of state.openCalls.filter(isStarted)) {
    const { result, problem } = await capturedOutput(started, outputs, limits);
    if (result !== null) captured.push(result);
    sink.append(interruption(started, result, problem));
  }
  if (state.activeRun !== null) sink.append({ type: 'run_interrupted' });
  await sink.sync();
  // Only now do events on disk refer to the output (ART-10).
  for (const { release } of captured) await release();
}

function isStarted(call: OpenCall): call is OpenCall & { readonly started: StartedCall } {
  return call.started !== null;
}

async function capturedOutput(
  { callId, output }: StartedCall,
  outputs: OutputStore,
  limits: OutputLimits,
): Promise<{ readonly result: CaptureResult | null; readonly problem: string | null }> {
  if (output === null) return { result: null, problem: null };
  try {
    return { result: await outputs.recover({ callId, declaration: output, limits }), problem: null };
  } catch (error) {
    // A session opens whatever became of the output of one call.
    return { result: null, problem: messageOf(error) };
  }
}

function interruption({ callId }: StartedCall, result: CaptureResult | null, problem: string | null) {
  return {
    type: 'tool_call_terminated',
    tool_call_id: callId,
    outcome: 'interrupted',
    result:
      result === null
        ? null
        : { text: result.text, metadata: {}, display: '', attachments: [], retained_output: result.retained },
    error: {
      code: 'interrupted',
      message: problem === null ? INTERRUPTED : `${INTERRUPTED}; its output could not be kept: ${problem}`,
    },
  } as const;
}
