import type {
  AssistantToolCall,
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
import type { Approver, EventSink, LiveListener } from '../ports.ts';

export interface TurnCallsPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outputs: OutputStore;
  readonly approver: Approver;
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

export class TurnCalls {
  readonly #ports: TurnCallsPorts;

  constructor(ports: TurnCallsPorts) {
    this.#ports = ports;
  }

  async run(_request: TurnRequest, _signal: AbortSignal): Promise<TurnOutcome> {
    throw new Error(`not written yet ${String(this.#ports.clock.now())}`);
  }

  /** Hands input to an interactive call; false where it takes none. Resolves once the tool has taken it (BASH-3). */
  async submitStdin(_callId: ToolCallId, _data: Uint8Array | null, _eof: boolean): Promise<boolean> {
    throw new Error('not written yet');
  }
}
