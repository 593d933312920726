import {
  isJsonObject,
  type AssistantPart,
  type AssistantToolCall,
  type CallReport,
  type EventEnvelope,
  type RunId,
} from '@agentd/contract';
import type { PermissionRule } from './agent-document.ts';
import { CallLedger, type OpenCall, type TurnCall } from './call-ledger.ts';
import { ContextLedger, type ContextView } from './context/context-ledger.ts';
import { mediaTokens, textTokens } from './context/estimate.ts';
import { engineError } from './errors.ts';
import type { EngineEvent, EventOf, PermissionMode } from './events.ts';
import { ApprovalLedger, type GrantView } from './permissions/grants.ts';
import { InputLedger, type PendingInput } from './input-ledger.ts';
import { RunLedger, textOf, type RunRecord } from './run-ledger.ts';
import { UsageLedger, type UsageTotals } from './usage-totals.ts';

/** One committed turn with what the user had said before it. */
export interface Step {
  /** The event that committed it. */
  readonly seq: number;
  /** Texts of the user, in order: inputs, and workspace notes that changed since the session began. */
  readonly inputs: readonly string[];
  /** Those of the inputs that a user said. */
  readonly said: readonly string[];
  /** The newest workspace notes among the inputs; null without any. */
  readonly notes: EventOf<'agents_md_loaded'> | null;
  /** `provider/model` */
  readonly model: string;
  readonly content: readonly AssistantPart[];
  /** In call order; their reports come later (CallLedger C3). */
  readonly calls: readonly TurnCall[];
}

export interface ActiveRun {
  readonly runId: RunId;
  readonly clientRunId: string | null;
  readonly startedSeq: number;
  readonly turns: number;
}

/** What a session's events amount to. Applied event by event; the cost of one event does not grow with the log. */
export class SessionState {
  readonly #runs = new RunLedger();
  readonly #calls = new CallLedger();
  readonly #inputs = new InputLedger();
  readonly #usage = new UsageLedger();
  readonly #steps: Step[] = [];
  readonly #context = new ContextLedger();
  readonly #approvals = new ApprovalLedger();
  readonly #refusedFiles = new Map<string, Set<string>>();
  #header: EngineEvent | null = null;
  #title: string | null = null;
  #mode: PermissionMode = 'ask';
  #overlay: readonly PermissionRule[] = [];
  #lastSeq = 0;

  static of(events: readonly EventEnvelope[]): SessionState {
    const state = new SessionState();
    for (const event of events) state.apply(event);
    return state;
  }

  /** Takes the next event. Types that the engine does not know change nothing. */
  apply(envelope: EventEnvelope | EngineEvent): void {
    const event = envelope as EngineEvent;
    this.#lastSeq = Math.max(this.#lastSeq, event.seq);
    this.#runs.apply(event);
    this.#applySettings(event);
    this.#inputs.apply(event);
    this.#approvals.apply(event.payload);
    this.#context.apply(event, this.#steps);
    this.#applyCall(event);
  }

  /** The first event. Throws `ENGINE_SESSION_DAMAGED` without one (SES-3). */
  get header(): EventOf<'session_created'> {
    const payload = this.#header?.payload;
    if (payload?.type === 'session_created') return payload;
    throw engineError('ENGINE_SESSION_DAMAGED', 'the session has no readable first event');
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get title(): string {
    return this.#title ?? this.header.title;
  }

  /** As it was set last, by hand or by the start of a run. */
  get mode(): PermissionMode {
    return this.#mode;
  }

  get overlay(): readonly PermissionRule[] {
    return this.#overlay;
  }

  get status(): 'idle' | 'running' {
    return this.#runs.active === null ? 'idle' : 'running';
  }

  get activeRun(): ActiveRun | null {
    return this.#runs.active;
  }

  get lastRun(): RunRecord | null {
    return this.#runs.last;
  }

  runByClientId(clientRunId: string): RunRecord | undefined {
    return this.#runs.byClientId(clientRunId);
  }

  /** Calls without a terminal event, in call order; those that never started only until the next turn. */
  get openCalls(): readonly OpenCall[] {
    return this.#calls.open;
  }

  /** Questions to the user that have no answer yet, oldest first. */
  get openApprovals(): readonly string[] {
    return this.#approvals.open;
  }

  /** What the user has allowed for good (PERM-7). */
  get grants(): GrantView {
    return this.#approvals;
  }

  get pendingInputs(): readonly PendingInput[] {
    return this.#inputs.pending;
  }

  /** For each committed turn the reports of its calls in call order; a missing result is reported as interrupted. */
  get turns(): readonly (readonly CallReport[])[] {
    return this.#calls.turns;
  }

  hasProviderCallId(id: string): boolean {
    return this.#calls.hasProviderId(id);
  }

  /** SES-10. */
  get usage(): UsageTotals {
    return this.#usage.totals;
  }

  /** Text of the newest turn. */
  get finalText(): string {
    return textOf(this.#steps.at(-1)?.content ?? []);
  }

  /** What the workspace said to its agents when the session began (CFG-1). */
  get notes(): EventOf<'agents_md_loaded'> | null {
    return this.#inputs.notes;
  }

  /** Files that a model refused, by SHA-256 (SES-9). */
  refusedFiles(model: string): readonly string[] {
    return [...(this.#refusedFiles.get(model) ?? [])];
  }

  /** What was taken out of the history, for `modelMessages` too. */
  get context(): ContextView {
    return this.#context;
  }

  /** For `modelMessages`. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Texts that come after the last step, for `modelMessages`. */
  get pendingTexts(): readonly string[] {
    return this.#inputs.texts;
  }

  #applySettings(event: EngineEvent): void {
    const { payload } = event;
    switch (payload.type) {
      case 'session_created':
        this.#header ??= event;
        return;
      case 'session_title_committed':
        this.#title = payload.title;
        return;
      case 'run_started':
      case 'permission_mode_set':
        this.#mode = payload.mode;
        return;
      case 'permission_overlay_set':
        this.#overlay = payload.rules as readonly PermissionRule[];
        return;
      case 'model_usage_recorded':
        this.#usage.add(payload);
        return;
      case 'attempt_abandoned':
        this.#refuse(payload);
        return;
      default:
    }
  }

  #refuse({ model, refused_files: files = [] }: EventOf<'attempt_abandoned'>): void {
    if (files.length === 0) return;
    this.#refusedFiles.set(model, new Set([...(this.#refusedFiles.get(model) ?? []), ...files]));
  }

  #applyCall(event: EngineEvent): void {
    const { payload } = event;
    switch (payload.type) {
      case 'model_turn_committed':
        this.#commit(payload, event);
        return;
      case 'tool_call_started':
        this.#calls.start(payload, event.run_id);
        return;
      case 'tool_call_terminated':
        this.#calls.terminate(payload, event);
        return;
      case 'tool_output_elided':
        this.#elide(payload);
        return;
      default:
    }
  }

  #elide(payload: EventOf<'tool_output_elided'>): void {
    const elided = this.#calls.elide(payload);
    if (elided === null) return;
    const { report, sealed } = elided;
    const taken = textTokens(report.text) + mediaTokens(report.attachments) - textTokens(payload.marker);
    // What no request has held yet, no provider has counted.
    this.#context.elided(sealed ? taken : 0);
  }

  #commit(payload: EventOf<'model_turn_committed'>, event: EngineEvent): void {
    const { texts: inputs, said, notes } = this.#inputs.take(payload.input_through_seq);
    const content = payload.content.filter(isSound);
    const calls = this.#calls.commit(content.filter(isCall), event);
    this.#steps.push({ seq: event.seq, inputs, said, notes, model: payload.model, content, calls });
  }
}

function isCall(part: AssistantPart): part is AssistantToolCall {
  return part.type === 'tool_call';
}

/** Parts that a later version added, or that were damaged, are passed over. */
function isSound(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  if (part['type'] === 'tool_call') {
    return typeof part['provider_call_id'] === 'string' && typeof part['tool'] === 'string';
  }
  return (part['type'] === 'text' || part['type'] === 'reasoning') && typeof part['text'] === 'string';
}
