import type {
  AssistantToolCall,
  CallReport,
  OutputDeclaration,
  RunId,
  ToolCallId,
  ToolError,
} from '@agentd/contract';
import type { EngineEvent, EventOf } from './events.ts';

/** A call that has no terminal event yet. */
export interface OpenCall {
  readonly providerCallId: string;
  readonly tool: string;
  readonly runId: RunId | null;
  /** Null where the call was committed in a turn and never got its `tool_call_started`. */
  readonly started: StartedCall | null;
}

export interface StartedCall {
  readonly callId: ToolCallId;
  readonly args: unknown;
  /** Null where preparation failed before they were known. */
  readonly action: string | null;
  readonly label: string | null;
  /** What the tool declared; null where preparation failed before that was known. */
  readonly output: OutputDeclaration | null;
}

/** One call of a committed turn, as the history shows it. */
export interface TurnCall extends OpenCall {
  /** The provider's id; made valid and distinct where a damaged log has it otherwise. */
  readonly wireId: string;
  /** Null until the call has its result, and for ever where that was lost. */
  readonly report: CallReport | null;
  /** What stands in place of its output and files, where they were taken out of the history (SES-8). */
  readonly marker: string | null;
}

class Call implements TurnCall {
  readonly providerCallId: string;
  readonly wireId: string;
  readonly tool: string;
  readonly runId: RunId | null;
  started: StartedCall | null = null;
  report: CallReport | null = null;
  marker: string | null = null;
  /** A later turn was committed: what the history says of this call stands. */
  sealed = false;
  /** Tells the turn's reports. */
  onReport: (report: CallReport) => void = () => undefined;

  constructor(
    part: Pick<AssistantToolCall, 'provider_call_id' | 'tool'>,
    wireId: string,
    runId: RunId | null,
  ) {
    this.providerCallId = part.provider_call_id;
    this.wireId = wireId;
    this.tool = part.tool;
    this.runId = runId;
  }
}

/** What a model reads in place of a result that is not there; it cannot know whether the call had an effect. */
export const LOST_RESULT: ToolError = {
  code: 'interrupted',
  message: 'no result of this call was recorded; check whether it took effect before you repeat it',
};

export interface ElidedResult {
  readonly report: CallReport;
  /** A later turn was committed: a request has held it. */
  readonly sealed: boolean;
}

/**
 * The calls of one session.
 *   C1. A call has at most one result: the first.
 *   C2. A result whose call is not known is left out.
 *   C3. Once a later turn is committed, the results of the earlier one no longer change; they may be elided, once.
 */
export class CallLedger {
  readonly #byCallId = new Map<ToolCallId, Call>();
  readonly #byProviderId = new Map<string, Call>();
  readonly #wireIds = new Set<string>();
  readonly #open = new Set<Call>();
  readonly #turns: CallReport[][] = [];
  #newest: readonly Call[] = [];

  /** In the order of the calls. */
  get open(): readonly OpenCall[] {
    return [...this.#open];
  }

  get turns(): readonly (readonly CallReport[])[] {
    return this.#turns;
  }

  hasProviderId(id: string): boolean {
    return this.#byProviderId.has(id) || this.#wireIds.has(id);
  }

  /** Takes the calls of a committed turn. */
  commit(parts: readonly AssistantToolCall[], event: EngineEvent): readonly TurnCall[] {
    this.#seal();
    const reports: CallReport[] = [];
    const calls = parts.map((part, index) => {
      const call = new Call(part, this.#distinct(part.provider_call_id), event.run_id);
      reports.push(lostReport(event));
      call.onReport = (report) => (reports[index] = report);
      this.#byProviderId.set(part.provider_call_id, call);
      this.#open.add(call);
      return call;
    });
    this.#turns.push(reports);
    this.#newest = calls;
    return calls;
  }

  start(payload: EventOf<'tool_call_started'>, runId: RunId | null): void {
    if (this.#byCallId.has(payload.tool_call_id)) return;
    const call = this.#committed(payload) ?? this.#byHand(payload, runId);
    const { tool_call_id: callId, args, action, label, output } = payload;
    call.started = { callId, args, action, label, output: output ?? null };
    this.#byCallId.set(payload.tool_call_id, call);
    this.#open.add(call);
  }

  terminate(payload: EventOf<'tool_call_terminated'>, event: EngineEvent): void {
    const call = this.#byCallId.get(payload.tool_call_id);
    if (call === undefined || !this.#open.delete(call) || call.sealed) return;
    call.report = reportOf(payload, event);
    call.onReport(call.report);
  }

  /** Takes a result out of the history; gives what it was, or null where there is none to take out. */
  elide({ tool_call_id: callId, marker }: EventOf<'tool_output_elided'>): ElidedResult | null {
    const call = this.#byCallId.get(callId);
    if (call?.report == null || call.marker !== null) return null;
    call.marker = marker;
    return { report: call.report, sealed: call.sealed };
  }

  #seal(): void {
    for (const call of this.#newest) {
      call.sealed = true;
      // Nobody will ever start it; the history says so.
      if (call.started === null) this.#open.delete(call);
    }
  }

  #committed({ provider_call_id: id }: EventOf<'tool_call_started'>): Call | undefined {
    const call = this.#byProviderId.get(id);
    return call === undefined || call.started !== null || call.sealed ? undefined : call;
  }

  /** A call that no turn holds: made by hand, or its turn was lost. The history leaves it out. */
  #byHand(payload: EventOf<'tool_call_started'>, runId: RunId | null): Call {
    const call = new Call(payload, payload.provider_call_id, runId);
    if (!this.#byProviderId.has(call.providerCallId)) this.#byProviderId.set(call.providerCallId, call);
    return call;
  }

  #distinct(id: string): string {
    const sound = id.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'call';
    let wireId = sound;
    for (let count = 2; this.#wireIds.has(wireId); count++) wireId = `${sound.slice(0, 48)}_${count}`;
    this.#wireIds.add(wireId);
    return wireId;
  }
}

function reportOf(
  { tool_call_id: callId, outcome, result, error }: EventOf<'tool_call_terminated'>,
  event: EngineEvent,
): CallReport {
  return {
    ...lostReport(event),
    ...(result as Partial<CallReport> | null),
    tool_call_id: callId,
    outcome,
    error: error as ToolError | null,
  };
}

function lostReport({ session_id, run_id }: EngineEvent): CallReport {
  return {
    session_id,
    run_id: run_id ?? '',
    tool_call_id: '',
    outcome: 'interrupted',
    error: LOST_RESULT,
    text: '',
    metadata: {},
    display: '',
    attachments: [],
    retained_output: null,
  };
}
