import {
  toolError,
  type RunId,
  type SessionFacts,
  type SessionId,
  type SessionOrigin,
  type ToolCallId,
} from '@agentd/contract';
import { whileListening } from './abortable.ts';
import { INHERITED_BYTES } from './child-input.ts';
import { failure, type Crew } from './crew.ts';
import type { DelegationRecord } from './delegation-record.ts';
import type { DelegationEventOf } from './events.ts';
import type { Job } from './job.ts';
import { writeReservation, type Held } from './ledger-writes.ts';
import { withoutRun } from './outcome.ts';
import type { DelegationPorts } from './ports.ts';
import { hasRoom, queueLoad, takesTurns } from './queue.ts';
import { SerialLock } from './serial-lock.ts';
import type { DelegationSettings } from './settings.ts';

/** What a call of `delegate_subagent` asks for, once its arguments are sound. */
export interface DelegationRequest {
  readonly parentId: SessionId;
  readonly callId: ToolCallId;
  readonly agent: string;
  readonly title: string;
  readonly prompt: string;
  readonly background: boolean;
  readonly inheritContext: boolean;
  /** The child that gets a further prompt; null makes a new one. */
  readonly child: SessionFacts | null;
}

type Reservation = DelegationEventOf<'delegation_reserved'>;

/** Who the child is and what it takes along: found out before anything is reserved. */
type ChildPlan = Pick<Reservation, 'child_id' | 'handle' | 'inherited'>;

/**
 * Takes delegations in, those of one parent one after the other (SCH-6): reservation on disk, then the child, then its
 * turn or its place in the queue, on disk as well.
 */
export class Admission {
  readonly #ports: DelegationPorts;
  readonly #settings: DelegationSettings;
  readonly #crew: Crew;
  readonly #lock = new SerialLock();
  /** Handles of children that are not created yet. */
  readonly #claimed = new Set<string>();

  constructor(ports: DelegationPorts, settings: DelegationSettings, crew: Crew) {
    this.#ports = ports;
    this.#settings = settings;
    this.#crew = crew;
  }

  /** Runs `work` while nothing is taken in for this parent. */
  exclusively<Value>(parentId: SessionId, work: () => Promise<Value>): Promise<Value> {
    return this.#lock.run(parentId, work);
  }

  /**
   * The delegation of this call as it stands once it is admitted; a repeated call meets the one that is there (DLG-11).
   * Throws `delegation_full`, and `cancelled` where the call was cancelled before anything was reserved.
   */
  admit(request: DelegationRequest, signal: AbortSignal): Promise<DelegationRecord> {
    const { host } = this.#ports;
    return this.exclusively(request.parentId, () =>
      host.use(request.parentId, async (held) => {
        const known = knownRecord(request, held, signal);
        if (known !== null) return known;
        const plan = await this.#plan(request, held.facts);
        try {
          return await this.#reserve(held, reservationOf(request, held, { plan, signal }), signal);
        } finally {
          this.#claimed.delete(plan.handle);
        }
      }),
    );
  }

  /** The child of a reservation; one that is there is left as it is. */
  async create(record: DelegationRecord, { facts }: Held): Promise<void> {
    if (record.resumes) return;
    const { childId: sessionId, handle, agent, title } = record;
    await this.#ports.host.createChild({ sessionId, handle, agent, title, origin: originOf(record, facts) });
  }

  async #plan(request: DelegationRequest, facts: SessionFacts): Promise<ChildPlan> {
    const { host, ids } = this.#ports;
    const { child, inheritContext, parentId } = request;
    const inherited = inheritContext ? await host.conversation(parentId, INHERITED_BYTES) : null;
    if (child !== null) return { child_id: child.sessionId, handle: child.handle, inherited };
    const tree = await host.tree(facts.rootId);
    const taken = new Set([...tree.map(({ handle }) => handle), ...this.#claimed]);
    const fresh = (): string => `${request.agent}_${ids.hex(8)}`;
    let handle = fresh();
    while (taken.has(handle)) handle = fresh();
    this.#claimed.add(handle);
    return { child_id: ids.uuid(), handle, inherited };
  }

  async #reserve(held: Held, reservation: Reservation, signal: AbortSignal): Promise<DelegationRecord> {
    const { ledger, facts } = held;
    if (takesTurns(reservation, facts.depth) && !hasRoom(queueLoad(ledger), this.#settings))
      throw delegationFull(this.#settings);
    writeReservation(held, reservation);
    const record = recordIn(held, reservation.invocation_id);
    const job = this.#crew.enlist(record, held);
    return whileListening(
      signal,
      () => job.cancel('run'),
      () => this.#settle(job, record, held),
    );
  }

  async #settle(job: Job, record: DelegationRecord, held: Held): Promise<DelegationRecord> {
    try {
      await held.log.sync();
      // Also where the call was cancelled meanwhile: it names the child, and its parent may resume it.
      await this.create(record, held);
      if (!job.cancelling.aborted) this.#crew.place(job, held);
    } catch (error) {
      await this.#crew.conclude(job, failure(error), true);
      return recordIn(held, record.invocationId);
    }
    if (job.cancelling.aborted) await this.#crew.conclude(job, withoutRun('cancelled'), true);
    else this.#crew.launch(job);
    await held.log.sync();
    return recordIn(held, record.invocationId);
  }
}

/** The record of a repeated call. Throws where the call may not start anything now. */
function knownRecord(request: DelegationRequest, held: Held, signal: AbortSignal): DelegationRecord | null {
  return held.ledger.find(invocationIdOf(request, activeRunOf(held, signal)));
}

/** A call that is not cancelled belongs to the active run. */
function activeRunOf({ ledger }: Held, signal: AbortSignal): RunId {
  if (signal.aborted) throw toolError('cancelled', 'cancelled before the subagent was started');
  if (ledger.activeRun === null)
    throw toolError('execution_failed', 'a subagent can only be started in a run');
  return ledger.activeRun;
}

function invocationIdOf({ parentId, callId }: DelegationRequest, runId: RunId): string {
  return `${parentId}:${runId}:${callId}`;
}

function reservationOf(
  request: DelegationRequest,
  held: Held,
  { plan, signal }: { readonly plan: ChildPlan; readonly signal: AbortSignal },
): Reservation {
  const runId = activeRunOf(held, signal);
  return {
    type: 'delegation_reserved',
    invocation_id: invocationIdOf(request, runId),
    ...plan,
    agent: request.agent,
    title: request.title,
    prompt: request.prompt,
    background: request.background,
    resumes: request.child !== null,
    parent_run_id: runId,
    tool_call_id: request.callId,
  };
}

function originOf(record: DelegationRecord, parent: SessionFacts): SessionOrigin {
  return {
    rootId: parent.rootId,
    parentId: parent.sessionId,
    parentRunId: record.parentRunId,
    toolCallId: record.toolCallId,
    invocationId: record.invocationId,
    depth: parent.depth + 1,
  };
}

function recordIn({ ledger }: Held, invocationId: string): DelegationRecord {
  const record = ledger.find(invocationId);
  if (record === null) throw new Error('the log numbers events at or below earlier ones');
  return record;
}

function delegationFull({ maxConcurrency }: DelegationSettings) {
  return toolError(
    'delegation_full',
    `${maxConcurrency} background subagents run and as many as may wait are queued; nothing was started. ` +
      'Go on without this one, start it in the foreground, or wait until a result has come',
  );
}
