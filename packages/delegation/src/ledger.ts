import type { EventEnvelope, ProjectionInit, RunId, SessionId, SessionProjection } from '@agentd/contract';
import type { DelegationEnd, DelegationPhase, DelegationRecord } from './delegation-record.ts';
import {
  isDelegationEventType,
  readDelegationEvent,
  type DelegationEvent,
  type DelegationEventOf,
} from './events.ts';

/** An event of a ledger that was passed over. */
export interface LedgerFault {
  readonly seq: number;
  readonly type: string;
  /** `damaged`: a required field is wrong. `illegal`: the delegation is not where the event needs it. */
  readonly kind: 'damaged' | 'illegal';
}

const RUN_ENDS: ReadonlySet<string> = new Set([
  'run_completed',
  'run_failed',
  'run_cancelled',
  'run_interrupted',
]);

/** The phases that an event may follow. */
const BEFORE: Readonly<
  Record<Exclude<DelegationEvent['type'], 'delegation_reserved'>, ReadonlySet<DelegationPhase>>
> = {
  delegation_queued: new Set(['reserved']),
  delegation_started: new Set(['reserved', 'queued']),
  delegation_finished: new Set(['reserved', 'queued', 'started']),
};

/** More of them say nothing new. */
const MOST_FAULTS = 100;

/**
 * What the log of a session says of the children that it started. The cost of one event does not grow with the log.
 *   L1. A delegation only moves on; an event that asks for another step, or for one twice, changes nothing.
 *   L2. One invocation is one delegation: a second reservation changes nothing (DLG-11).
 *   L3. Events that are unknown or damaged change nothing, and everything after them counts.
 *   L4. A cancelled run is told to `onCancelled` once, when it happens; a log that is read again tells nothing (DLG-10).
 */
export class DelegationLedger implements SessionProjection {
  readonly sessionId: SessionId;
  readonly #onCancelled: (ledger: DelegationLedger, runId: RunId) => void;
  readonly #records = new Map<string, DelegationRecord>();
  /** Not finished, in order of reservation. */
  readonly #open = new Set<string>();
  readonly #newestOfChild = new Map<SessionId, string>();
  readonly #invocationOfCall = new Map<string, string>();
  readonly #cancelledRuns = new Set<RunId>();
  readonly #faults: LedgerFault[] = [];
  #activeRun: RunId | null = null;
  #lastSeq = 0;

  constructor(
    { sessionId, events }: Pick<ProjectionInit, 'sessionId' | 'events'>,
    onCancelled: (ledger: DelegationLedger, runId: RunId) => void = () => undefined,
  ) {
    this.sessionId = sessionId;
    this.#onCancelled = onCancelled;
    for (const event of events) this.#read(event);
  }

  get activeRun(): RunId | null {
    return this.#activeRun;
  }

  /** In order of reservation. */
  get unfinished(): readonly DelegationRecord[] {
    return [...this.#open].flatMap((id) => this.#records.get(id) ?? []);
  }

  get finished(): readonly DelegationRecord[] {
    return [...this.#records.values()].filter(({ phase }) => phase === 'finished');
  }

  /** What was odd about the log. */
  get faults(): readonly LedgerFault[] {
    return this.#faults;
  }

  find(invocationId: string): DelegationRecord | null {
    return this.#records.get(invocationId) ?? null;
  }

  /** The last prompt that this child was given. */
  newestOf(childId: SessionId): DelegationRecord | null {
    return this.find(this.#newestOfChild.get(childId) ?? '');
  }

  wasCancelled(runId: RunId): boolean {
    return this.#cancelledRuns.has(runId);
  }

  apply(event: EventEnvelope): void {
    if (event.seq <= this.#lastSeq) return;
    this.#read(event);
    if (event.payload.type === 'run_cancelled' && event.run_id !== null)
      this.#onCancelled(this, event.run_id);
  }

  #read(event: EventEnvelope): void {
    const { seq, payload } = event;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    this.#followRun(event);
    if (payload.type === 'tool_call_terminated') this.#noteCall(payload);
    if (!isDelegationEventType(payload.type)) return;
    const delegation = readDelegationEvent(payload.type, payload);
    if (delegation === null) this.#fault(event, 'damaged');
    else if (!this.#take(delegation)) this.#fault(event, 'illegal');
  }

  #followRun({ run_id: runId, payload }: EventEnvelope): void {
    if (runId === null) return;
    if (payload.type === 'run_started') this.#activeRun = runId;
    if (payload.type === 'run_cancelled') this.#cancelledRuns.add(runId);
    if (RUN_ENDS.has(payload.type) && runId === this.#activeRun) this.#activeRun = null;
  }

  /** Only the recovery of a session ends calls as interrupted. */
  #noteCall({ tool_call_id: callId, outcome }: EventEnvelope['payload']): void {
    const record = typeof callId === 'string' ? this.find(this.#invocationOfCall.get(callId) ?? '') : null;
    if (record === null || record.background || outcome !== 'interrupted') return;
    this.#records.set(record.invocationId, { ...record, callLost: true });
  }

  #take(event: DelegationEvent): boolean {
    if (event.type === 'delegation_reserved') return this.#reserve(event);
    const record = this.find(event.invocation_id);
    if (record === null || !BEFORE[event.type].has(record.phase)) return false;
    if (event.type === 'delegation_finished') this.#finish(record, event);
    else this.#put({ ...record, phase: event.type === 'delegation_queued' ? 'queued' : 'started' });
    return true;
  }

  #reserve(event: DelegationEventOf<'delegation_reserved'>): boolean {
    if (this.#records.has(event.invocation_id)) return false;
    this.#put(recordOf(event));
    this.#open.add(event.invocation_id);
    this.#newestOfChild.set(event.child_id, event.invocation_id);
    this.#invocationOfCall.set(event.tool_call_id, event.invocation_id);
    return true;
  }

  #finish(record: DelegationRecord, event: DelegationEventOf<'delegation_finished'>): void {
    const { status, preview, lines, truncated, error, delivery } = event;
    const end: DelegationEnd = { status, preview, lines, truncated, error, delivery };
    this.#put({ ...record, phase: 'finished', end, prompt: '', inherited: null });
    this.#open.delete(record.invocationId);
  }

  #put(record: DelegationRecord): void {
    this.#records.set(record.invocationId, record);
  }

  #fault({ seq, payload: { type } }: EventEnvelope, kind: LedgerFault['kind']): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ seq, type, kind });
  }
}

function recordOf(event: DelegationEventOf<'delegation_reserved'>): DelegationRecord {
  const { handle, agent, title, prompt, inherited, background, resumes } = event;
  return {
    invocationId: event.invocation_id,
    childId: event.child_id,
    handle,
    agent,
    title,
    prompt,
    inherited,
    background,
    resumes,
    parentRunId: event.parent_run_id,
    toolCallId: event.tool_call_id,
    phase: 'reserved',
    end: null,
    callLost: false,
  };
}
