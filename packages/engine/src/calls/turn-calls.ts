import type {
  AssistantToolCall,
  AttachmentBudget,
  CallReport,
  Clock,
  Ids,
  ModelInfo,
  OutputLimits,
  OutputStore,
  PrepareContext,
  RunId,
  Tool,
  ToolCallId,
} from '@agentd/contract';
import type { PermissionMode } from '../events.ts';
import type { RuleLayers } from '../permissions/decide.ts';
import type { GrantView } from '../permissions/grants.ts';
import type { Approver, EventSink, LiveListener } from '../ports.ts';
import { callError } from './call-fault.ts';
import { EMPTY_RESULT, type CallEnd, type StagedCall } from './call-stages.ts';
import { Permissions } from './permit-calls.ts';
import { prepareCalls } from './prepare-calls.ts';
import type { StdinChannel } from './stdin-channel.ts';
import { TurnDispatch } from './turn-dispatch.ts';

export interface TurnCallsPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outputs: OutputStore;
  readonly attachments?: AttachmentBudget | undefined;
  readonly approver: Approver;
  readonly grants: GrantView;
  readonly sink: EventSink;
  readonly live: LiveListener;
  readonly limits: OutputLimits;
}

/** The calls of one model turn and what they may do. */
export interface TurnRequest {
  readonly runId: RunId;
  readonly session: PrepareContext['session'];
  /** As committed: provider ids are valid and distinct. */
  readonly calls: readonly AssistantToolCall[];
  /** What is published to this run (`publishedTools`). */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly model: ModelInfo | null;
  readonly rules: RuleLayers;
  readonly mode: PermissionMode;
  /** The turn ended at the output limit (`finish_reason: length`), so that arguments may be cut off. */
  readonly truncated?: boolean;
  /** Somebody can send input to interactive calls; without it their stdin is null. */
  readonly acceptsStdin?: boolean;
}

export interface TurnOutcome {
  /** In call order. */
  readonly reports: readonly CallReport[];
  /** How many of the calls were denied. */
  readonly denials: number;
}

/**
 * Runs the calls of one model turn, phase by phase (SCH-11): prepare all, record the starts, permit all, run.
 *   T1. Every call gets exactly one `tool_call_started` and one `tool_call_terminated` (SCH-10).
 *   T2. Nothing executes before every start and every decision of the turn is on disk.
 *   T3. A tool's fault ends its own call; `run` rejects only when the log fails (SCH-9).
 *   T4. Terminal events stand in the order of completion, reports in call order (SCH-7).
 */
export class TurnCalls {
  readonly #ports: TurnCallsPorts;
  readonly #permissions: Permissions;
  /** Input of the calls that run now. */
  readonly #channels = new Map<ToolCallId, StdinChannel>();

  constructor(ports: TurnCallsPorts) {
    this.#ports = ports;
    this.#permissions = new Permissions(ports);
  }

  /** Resolves when each call has its terminal event on disk. */
  async run(request: TurnRequest, signal: AbortSignal): Promise<TurnOutcome> {
    const prepared = await prepareCalls(request, this.#ports, signal);
    const dispatch = new TurnDispatch(this.#ports, request.acceptsStdin === true ? this.#channels : null);
    try {
      for (const call of prepared) this.#recordStart(call);
      await this.#ports.sink.sync();
      const permitted = await this.#permissions.permit(prepared, request, signal);
      const ends = await dispatch.run(permitted, signal);
      return {
        reports: permitted.map(({ callId }) => reportOf(callId, ends.get(callId), request)),
        denials: permitted.filter(isDenied).length,
      };
    } finally {
      await dispatch.dispose(prepared);
    }
  }

  /**
   * Hands input to an interactive call; false where it takes none, or not any more. Resolves once the tool has taken
   * the bytes (BASH-3).
   */
  async submitStdin(callId: ToolCallId, data: Uint8Array | null, eof: boolean): Promise<boolean> {
    const accepted = (await this.#channels.get(callId)?.submit(data, eof)) ?? false;
    if (accepted) {
      const byteCount = data?.byteLength ?? 0;
      this.#ports.sink.append({
        type: 'tool_stdin_submitted',
        tool_call_id: callId,
        byte_count: byteCount,
        eof,
      });
    }
    return accepted;
  }

  #recordStart({ callId, call, tool, operation }: StagedCall): void {
    const named = operation?.standsFor ?? { tool: call.tool, args: call.input };
    this.#ports.sink.append({
      type: 'tool_call_started',
      tool_call_id: callId,
      provider_call_id: call.provider_call_id,
      tool: named.tool,
      args: named.args,
      action: tool?.spec.action ?? null,
      label: operation?.permission.label ?? null,
      output: tool === null || tool.spec.truncation === 'opt_out' ? null : tool.spec.output,
    });
  }
}

/** Whether permissions, and not the tool, ended the call. */
function isDenied(call: StagedCall): boolean {
  return call.stage === 'settled' && call.operation !== null && call.end.error?.code === 'permission_denied';
}

function reportOf(
  callId: ToolCallId,
  end: CallEnd | undefined,
  { session, runId }: Pick<TurnRequest, 'session' | 'runId'>,
): CallReport {
  const ids = { session_id: session.id, run_id: runId, tool_call_id: callId };
  const { outcome, error, result } = end ?? LOST;
  return { ...EMPTY_RESULT, ...result, outcome, error, ...ids };
}

/** Dispatch gives each call an end; this keeps the pairing of calls and reports even if it ever did not. */
const LOST: Pick<CallEnd, 'outcome' | 'error' | 'result'> = {
  outcome: 'interrupted',
  error: callError('interrupted', 'the call has no result'),
  result: null,
};
