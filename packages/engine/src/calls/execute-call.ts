import {
  type AttachmentBudget,
  type CaptureResult,
  type Clock,
  type OutputCapture,
  type OutputLimits,
  type OutputStore,
  type ToolCompletion,
  type ToolError,
} from '@agentd/contract';
import type { EventSink, LiveListener } from '../ports.ts';
import { callError, faultOf } from './call-fault.ts';
import {
  bareEnd,
  cancelledEnd,
  EMPTY_RESULT,
  NOT_STARTED,
  type CallEnd,
  type ReadyCall,
} from './call-stages.ts';
import { checkedCompletion, type CheckedCompletion } from './completion.ts';
import { keepAttachments, type KeptAttachments } from './keep-attachments.ts';
import { pageCapture } from './page-capture.ts';
import { ReportGate } from './report-gate.ts';
import { settleWithGrace, type Settled } from './settle-with-grace.ts';

export interface ExecutePorts {
  readonly clock: Clock;
  readonly outputs: OutputStore;
  readonly attachments?: AttachmentBudget | undefined;
  readonly sink: EventSink;
  readonly live: LiveListener;
  readonly limits: OutputLimits;
}

/** Where a call's output goes, and what was wrong with it. */
interface CallCapture {
  readonly capture: OutputCapture;
  readonly problem: () => ToolError | null;
}

type Stdin = AsyncIterable<Uint8Array> | null;

/**
 * Runs one permitted call: revalidate, execute, capture, publish (SCH-11).
 *   X1. It resolves with an end, whatever the tool does, within 3 s of a cancellation (SCH-9).
 *   X2. Text that was accepted is in the result; on any end but `completed` it is marked incomplete (OUT-16).
 *   X3. What runs is the operation that was prepared and approved, or nothing (PERM-7).
 */
export class CallExecution {
  readonly #ports: ExecutePorts;
  readonly #call: ReadyCall;
  readonly #signal: AbortSignal;

  constructor(ports: ExecutePorts, call: ReadyCall, signal: AbortSignal) {
    this.#ports = ports;
    this.#call = call;
    this.#signal = signal;
  }

  async run(stdin: Stdin): Promise<CallEnd> {
    try {
      return (await this.#revalidate()) ?? (await this.#execute(stdin));
    } catch (thrown) {
      return bareEnd(faultOf(this.#toolName, thrown));
    }
  }

  get #toolName(): string {
    return this.#call.tool.spec.name;
  }

  /** Null lets the call go on. */
  async #revalidate(): Promise<CallEnd | null> {
    const { operation } = this.#call;
    if (this.#signal.aborted) return cancelledEnd(NOT_STARTED);
    const settled = await this.#settle(() => operation.revalidate(this.#signal));
    if (this.#signal.aborted) return cancelledEnd(NOT_STARTED);
    if (settled.kind === 'thrown') return bareEnd(faultOf(this.#toolName, settled.thrown));
    if (operation.isUnchanged()) return null;
    return bareEnd(
      callError('stale', `what ${this.#toolName} would do changed after it was approved; call it again`),
    );
  }

  async #execute(stdin: Stdin): Promise<CallEnd> {
    const { callId, operation } = this.#call;
    const { capture, problem } = await this.#openCapture();
    if (this.#signal.aborted) {
      await capture.discard();
      return cancelledEnd(NOT_STARTED);
    }
    const gate = new ReportGate(
      { callId, tool: this.#toolName, declaration: this.#call.tool.spec.output },
      { ...this.#ports, capture },
    );
    const context = { callId, report: gate.report, stdin };
    const settled = await this.#settle(() => operation.execute(context, this.#signal));
    await gate.close();
    const completion = this.#conclude(settled, gate);
    await capture.accept(completion.chunks);
    return this.#publish(capture, { ...completion, error: completion.error ?? problem() });
  }

  async #openCapture(): Promise<CallCapture> {
    const { output: declaration, truncation } = this.#call.tool.spec;
    if (truncation === 'opt_out') {
      const page = pageCapture();
      return { capture: page, problem: page.problem };
    }
    const { outputs, limits } = this.#ports;
    const capture = await outputs.capture({ callId: this.#call.callId, declaration, limits });
    return { capture, problem: () => null };
  }

  #settle<Value>(work: () => Promise<Value>): Promise<Settled<Value>> {
    return settleWithGrace(work, { clock: this.#ports.clock, signal: this.#signal });
  }

  /** What the tool's end amounts to; a fault takes the place of whatever the tool returned. */
  #conclude(settled: Settled<ToolCompletion>, { streamed, fault }: ReportGate): CheckedCompletion {
    if (settled.kind === 'abandoned') {
      return failure(callError('cancelled', `${this.#toolName} was cancelled and did not end within 3 s`));
    }
    if (settled.kind === 'thrown') return failure(fault ?? this.#thrownError(settled.thrown));
    if (fault !== null) return failure(fault);
    try {
      const declaration = this.#call.tool.spec.output;
      return checkedCompletion(settled.value, { declaration, streamed });
    } catch (thrown) {
      return failure(this.#thrownError(thrown));
    }
  }

  #thrownError(thrown: unknown): ToolError {
    if (this.#signal.aborted)
      return callError('cancelled', `the run was cancelled while ${this.#toolName} ran`);
    return faultOf(this.#toolName, thrown);
  }

  async #publish(capture: OutputCapture, completion: CheckedCompletion): Promise<CallEnd> {
    const { metadata, closingLine, display } = completion;
    const files = await keepAttachments(completion.attachments, this.#ports);
    const error = completion.error ?? files.error;
    const output = await finished(capture, { incomplete: error !== null }, files);
    const lines = [...files.notes, closingLine].filter((line) => line !== '').join('\n');
    return {
      outcome: error === null ? 'completed' : bareEnd(error).outcome,
      error,
      result: {
        ...EMPTY_RESULT,
        text: withClosingLine(output.text, lines),
        metadata,
        display,
        attachments: files.attachments,
        retained_output: output.retained,
      },
      release: async () => {
        await Promise.all([output.release(), files.release()]);
      },
    };
  }
}

/** A store that breaks its promise never to reject must not keep the janitor away for ever. */
async function finished(
  capture: OutputCapture,
  end: Parameters<OutputCapture['finish']>[0],
  { release }: KeptAttachments,
): Promise<CaptureResult> {
  try {
    return await capture.finish(end);
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

function failure(error: ToolError): CheckedCompletion {
  return { chunks: [], error, metadata: {}, attachments: [], closingLine: '', display: '' };
}

/** The lines stand outside every preview, one empty line after the last (BASH-5). */
function withClosingLine(text: string, closingLine: string): string {
  if (closingLine === '' || text === '') return text + closingLine;
  return `${text}${text.endsWith('\n') ? '\n' : '\n\n'}${closingLine}`;
}
