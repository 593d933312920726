import {
  toolError,
  type OutputCapture,
  type OutputChunk,
  type OutputDeclaration,
  type StreamName,
  type ToolCallId,
  type ToolError,
  type ToolProgress,
} from '@agentd/contract';
import { faultOf } from './call-fault.ts';
import { CodePointJoin } from './code-point-join.ts';
import { LivePresentation, type PresentationPorts } from './live-presentation.ts';
import { progressDelta, type ProgressDelta } from './progress-delta.ts';

export interface ReportGatePorts extends PresentationPorts {
  readonly capture: OutputCapture;
}

export interface ReportingCall {
  readonly callId: ToolCallId;
  readonly tool: string;
  readonly declaration: OutputDeclaration;
}

/** A tool that awaits none of its reports may have this many under way; each holds 64 KiB at most (OUT-12). */
const MAX_UNDER_WAY = 64;

/**
 * Where the reports of one call arrive.
 *   R1. A delta over a bound is refused whole (OUT-8).
 *   R2. `report` resolves once the capture has accepted the text, and text is stored in the order of the reports (OUT-12).
 *   R3. A tool that breaks its declaration has a fault, whether or not it looks at the rejection.
 *   R4. After `close` every report is refused; what was under way is stored before `close` resolves.
 *   R5. A rejection that the tool ignores troubles nobody else (SCH-9).
 */
export class ReportGate {
  readonly #call: ReportingCall;
  readonly #ports: ReportGatePorts;
  readonly #presentation: LivePresentation;
  readonly #join = new CodePointJoin();
  readonly #offsets = new Map<StreamName, number>();
  #tail: Promise<void> = Promise.resolve();
  #underWay = 0;
  #closed = false;
  #streamed = false;
  #fault: ToolError | null = null;

  constructor(call: ReportingCall, ports: ReportGatePorts) {
    this.#call = call;
    this.#ports = ports;
    this.#presentation = new LivePresentation(call.callId, ports);
  }

  /** Whether any text was accepted. */
  get streamed(): boolean {
    return this.#streamed;
  }

  /** How the tool broke its contract, if it did. */
  get fault(): ToolError | null {
    return this.#fault;
  }

  readonly report = (progress: ToolProgress): Promise<void> => {
    const accepted = this.#accept(progress);
    accepted.catch(() => undefined); // R5
    return accepted;
  };

  async close(): Promise<void> {
    if (this.#closed) return this.#tail;
    this.#closed = true;
    this.#presentation.close();
    const rest = this.#join.rest();
    if (rest.length > 0) await this.#store(rest);
    await this.#tail;
  }

  async #accept(progress: ToolProgress): Promise<void> {
    if (this.#closed)
      throw toolError('execution_failed', `${this.#call.tool} reported after its call had ended`);
    const { chunks, message, display } = this.#read(progress);
    if (chunks.length > 0) {
      this.#streamed ||= chunks.some(({ text }) => text !== '');
      await this.#store(chunks.map((chunk) => this.#join.join(chunk)));
    }
    if (message !== null) this.#presentation.message(message);
    if (display !== null) this.#presentation.display(display);
  }

  #read(progress: ToolProgress): ProgressDelta {
    let delta: ProgressDelta;
    try {
      delta = progressDelta(progress, this.#call.declaration);
    } catch (thrown) {
      const fault = faultOf(this.#call.tool, thrown);
      if (fault.code === 'resource_limit') throw thrown;
      this.#fault ??= fault;
      throw toolError(fault.code, fault.message);
    }
    if (delta.chunks.length > 0 && this.#underWay >= MAX_UNDER_WAY) {
      throw toolError('resource_limit', `${MAX_UNDER_WAY} reports are under way; await them`);
    }
    return delta;
  }

  #store(chunks: readonly OutputChunk[]): Promise<void> {
    this.#underWay++;
    const stored = this.#tail.then(async () => {
      await this.#ports.capture.accept(chunks);
      for (const chunk of chunks) this.#show(chunk);
    });
    this.#tail = stored.catch(() => undefined).finally(() => this.#underWay--);
    return stored;
  }

  #show({ stream = null, text: data }: { readonly stream?: StreamName; readonly text: string }): void {
    if (data === '') return;
    const offset = this.#offsets.get(stream) ?? 0;
    this.#offsets.set(stream, offset + Buffer.byteLength(data));
    this.#ports.live({ type: 'tool_output', tool_call_id: this.#call.callId, stream, offset, data });
  }
}
