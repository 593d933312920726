import type { SessionFacts, SessionId } from '@agentd/contract';
import type { Admission } from './admission.ts';
import { clientRunIdOf, failure, type Crew } from './crew.ts';
import type { DelegationRecord } from './delegation-record.ts';
import type { Job } from './job.ts';
import { tell, type Held } from './ledger-writes.ts';
import { withoutRun, type ChildOutcome } from './outcome.ts';
import type { DelegationPorts } from './ports.ts';

/**
 * Takes up what a crash or a stop left of a tree (DLG-11). What was handed over to the background goes on, is started
 * or gets its place in the queue back; what a call waited for, or a cancelled run had started, ends. Every step is
 * skipped when it is done already, so that a crash in here does no harm.
 */
export class Recovery {
  readonly #host: DelegationPorts['host'];
  readonly #crew: Crew;
  readonly #admission: Admission;

  constructor({ host }: Pick<DelegationPorts, 'host'>, crew: Crew, admission: Admission) {
    this.#host = host;
    this.#crew = crew;
    this.#admission = admission;
  }

  /** Never rejects: a session that fails keeps no other one from going on, and is taken up with the next opening. */
  async tree(rootId: SessionId): Promise<void> {
    const sessions = await this.#host.tree(rootId).catch(() => []);
    for (const { sessionId } of sessions.filter((facts) => mayDelegate(facts, sessions)))
      await this.#admission.exclusively(sessionId, () => this.#session(sessionId)).catch(() => undefined);
  }

  #session(sessionId: SessionId): Promise<void> {
    return this.#host.use(sessionId, async (held) => {
      await this.#tellWhatIsOwed(held);
      // All of them are in hand before one of them can end and give its turn away.
      for (const { job, record } of this.#enlistLeft(held)) await this.#takeUp(job, record, held);
      await held.log.sync();
    });
  }

  #enlistLeft(held: Held): readonly { readonly job: Job; readonly record: DelegationRecord }[] {
    const left = held.ledger.unfinished.filter(({ invocationId }) => !this.#crew.jobOf(invocationId));
    return left.map((record) => {
      const job = this.#crew.enlist(record, held);
      if (held.ledger.wasCancelled(record.parentRunId)) job.cancel('run');
      return { job, record };
    });
  }

  async #takeUp(job: Job, record: DelegationRecord, held: Held): Promise<void> {
    const outcome = await this.#outcomeSoFar(job, record, held).catch(failure);
    if (outcome === null) this.#crew.launch(job);
    else await this.#crew.conclude(job, outcome, false);
  }

  /** Null where the child is there and goes on. */
  async #outcomeSoFar(job: Job, record: DelegationRecord, held: Held): Promise<ChildOutcome | null> {
    if (job.cancelling.aborted) return this.#reached(record, 'cancelled');
    // Its parent will be told of it and may resume it, so it has to be there even if it never ran.
    if (record.phase === 'reserved') await this.#admission.create(record, held);
    if (!record.background) return this.#reached(record, 'interrupted');
    this.#crew.place(job, held);
    return null;
  }

  /** How far a child came that must not go on: its own log says it (field F12). */
  async #reached(record: DelegationRecord, otherwise: 'cancelled' | 'interrupted'): Promise<ChildOutcome> {
    if ((await this.#host.find(record.childId)) === null) return withoutRun(otherwise);
    // Opening it closes what the crash left open in it.
    const run = await this.#host.use(record.childId, () =>
      this.#host.run(record.childId, clientRunIdOf(record)),
    );
    if (run === null) return withoutRun(otherwise);
    const { status, text, error } = run;
    return { status: status === 'running' ? 'interrupted' : status, text, error };
  }

  /** Results that a crash, or damage to the log, kept from the parent although the end is recorded. */
  async #tellWhatIsOwed(held: Held): Promise<void> {
    const owed = held.ledger.finished.filter(
      ({ end, callLost }) => end?.delivery === 'inbox' || (end?.delivery === 'call' && callLost),
    );
    const told = owed.filter((record) => tell(held, record));
    if (told.length === 0) return;
    await held.log.sync();
    this.#host.wake(held.facts.sessionId);
  }
}

/** Without a child and without a run that was cut short, a session cannot have left anything: its log stays closed. */
function mayDelegate(
  { sessionId, parentId, status }: SessionFacts,
  sessions: readonly SessionFacts[],
): boolean {
  return (
    parentId === null ||
    status === 'running' ||
    status === 'interrupted' ||
    sessions.some((other) => other.parentId === sessionId)
  );
}
