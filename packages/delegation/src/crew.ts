import { codeOf, messageOf, type RunId, type SessionId } from '@agentd/contract';
import { untilAborted, whileListening } from './abortable.ts';
import { childrenOfRun, withDescendants } from './cascade.ts';
import { childInput } from './child-input.ts';
import type { DelegationRecord } from './delegation-record.ts';
import { Job } from './job.ts';
import type { DelegationLedger } from './ledger.ts';
import { tell, write, writeEnd, type Held } from './ledger-writes.ts';
import { endOf, wakesParent, withoutRun, type ChildOutcome, type Ending } from './outcome.ts';
import type { DelegationPorts } from './ports.ts';
import { queueLoad, takesTurns } from './queue.ts';
import type { DelegationSettings } from './settings.ts';

/**
 * The delegations that this process carries.
 *   C1. One delegation has one job, and only its job starts its run.
 *   C2. What a step decides by a ledger it writes into the log before anything else can happen, so no two steps grant
 *       the same turn or tell the same end.
 *   C3. At most `maxConcurrency` background children of a root have their turn; they get it in order of reservation.
 *   C4. Every job ends: with the end in the parent's log, or, once the engine stops, by leaving it to the next process.
 */
export class Crew {
  readonly #host: DelegationPorts['host'];
  readonly #settings: DelegationSettings;
  readonly #jobs = new Map<string, Job>();
  /** Jobs with what follows their end: the wake of the parent, the next turn. */
  readonly #atWork = new Set<{ readonly rootId: SessionId | null; readonly work: Promise<void> }>();

  constructor({ host }: Pick<DelegationPorts, 'host'>, settings: DelegationSettings) {
    this.#host = host;
    this.#settings = settings;
  }

  jobOf(invocationId: string): Job | undefined {
    return this.#jobs.get(invocationId);
  }

  /** The jobs of one tree. */
  of(rootId: SessionId): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.rootId === rootId);
  }

  /** Whether a prompt for this child is not at its end. */
  isAtWorkOn(childId: SessionId): boolean {
    return [...this.#jobs.values()].some((job) => job.childId === childId);
  }

  /** Resolves once no job of the tree is left and all wakes were asked for. */
  async settled(rootId: SessionId): Promise<void> {
    const left = (): readonly Promise<void>[] =>
      [...this.#atWork].flatMap((one) => ((one.rootId ?? rootId) === rootId ? [one.work] : []));
    for (let work = left(); work.length > 0; work = left()) await Promise.all(work);
  }

  /** Takes a reserved delegation in hand, in the step that reserved it. */
  enlist(record: DelegationRecord, { facts }: Held): Job {
    const job = new Job(record, { parentId: facts.sessionId, rootId: facts.rootId });
    this.#jobs.set(job.invocationId, job);
    return job;
  }

  /** Gives a child that exists its turn, or its place in the queue (DLG-9); not on disk yet. */
  place(job: Job, held: Held): void {
    const { ledger, facts } = held;
    const record = ledger.find(job.invocationId);
    if (record?.phase === 'reserved' || record?.phase === 'queued') {
      const { running, waiting } = queueLoad(ledger);
      const isDue = running < this.#settings.maxConcurrency && waiting[0]?.invocationId === job.invocationId;
      if (isDue || !takesTurns(record, facts.depth)) write(held, 'delegation_started', job.invocationId);
      else if (record.phase === 'reserved') write(held, 'delegation_queued', job.invocationId);
    }
    if (ledger.find(job.invocationId)?.phase === 'started') job.grant();
  }

  /** Carries the job from here to its end. */
  launch(job: Job): void {
    const earlier = this.#lastOf(job);
    this.#track(job.rootId, this.#carry(job, earlier));
  }

  /** For a job that comes to no run: its end is known already. */
  async conclude(job: Job, outcome: ChildOutcome, callWaits: boolean): Promise<DelegationRecord | null> {
    const work = this.#finish(job, outcome, callWaits).then(
      (record) => this.#leave(job, record),
      () => this.#leave(job, null),
    );
    this.#track(job.rootId, work);
    await work;
    return job.end;
  }

  /** The live cascade of DLG-10: what the run had started ends, and what that had started. */
  cancelRun(ledger: DelegationLedger, runId: RunId): void {
    for (const { parentRunId, invocationId } of ledger.unfinished)
      if (parentRunId === runId) this.#jobs.get(invocationId)?.cancel('run');
    const children = childrenOfRun(ledger, runId);
    if (children.length === 0) return;
    // A host that cannot answer any more has cancelled everybody itself.
    const work = this.#host
      .find(ledger.sessionId)
      .then((parent) => (parent === null ? undefined : this.#cancelBelow(parent.rootId, children)))
      .catch(() => undefined);
    this.#track(null, work);
  }

  /** Ends all prompts of a child that are not finished; the newest of them as it ended, null without any (DLG-14). */
  async cancelChild(childId: SessionId): Promise<DelegationRecord | null> {
    const jobs = [...this.#jobs.values()].filter((job) => job.childId === childId);
    for (const job of jobs) job.cancel('tool');
    const ends = await Promise.all(jobs.map(({ end }) => end));
    return ends.at(-1) ?? null;
  }

  /** Gives free turns to who waits longest (C3). */
  async #giveTurns(rootId: SessionId): Promise<void> {
    if (!this.of(rootId).some((job) => job.background && job.parentId === rootId)) return;
    try {
      await this.#host.use(rootId, (held) => this.#grantTurns(held));
    } catch {
      // The log of the root cannot be opened any more: what waits is left to the next process.
      for (const job of this.of(rootId)) if (job.parentId === rootId) job.giveUp();
    }
  }

  /** Children that have ended may have others at work still, or may have been woken. */
  async #cancelBelow(rootId: SessionId, children: readonly SessionId[]): Promise<void> {
    const below = withDescendants(await this.#host.tree(rootId), children);
    const jobs = this.of(rootId);
    for (const job of jobs) if (below.has(job.parentId)) job.cancel('run');
    // Another run of the parent may have resumed one meanwhile.
    const wanted = new Set(jobs.flatMap((job) => (job.cancelling.aborted ? [] : [job.childId])));
    const left = [...below].filter((id) => !wanted.has(id));
    await Promise.all(left.map((id) => this.#host.cancelRun(id)));
  }

  async #grantTurns(held: Held): Promise<void> {
    const { running, waiting } = queueLoad(held.ledger);
    const next = waiting
      .filter(({ phase }) => phase === 'queued')
      .flatMap(({ invocationId }) => this.#jobs.get(invocationId) ?? [])
      .filter(({ cancelling }) => !cancelling.aborted)
      .slice(0, Math.max(0, this.#settings.maxConcurrency - running));
    if (next.length === 0) return;
    for (const job of next) write(held, 'delegation_started', job.invocationId);
    // Should the disk fail here, the next process meets a child that runs before its turn, which does no harm.
    await held.log.sync().catch(() => undefined);
    for (const job of next) job.grant();
  }

  /** Prompts for one child run one after the other, as they were reserved (DLG-13). */
  #lastOf({ childId, invocationId }: Job): Promise<unknown> {
    const jobs = [...this.#jobs.values()];
    const before = jobs.slice(
      0,
      jobs.findIndex((job) => job.invocationId === invocationId),
    );
    return before.findLast((job) => job.childId === childId)?.end ?? Promise.resolve();
  }

  async #carry(job: Job, earlier: Promise<unknown>): Promise<void> {
    try {
      const outcome = await this.#outcomeOf(job, earlier);
      await this.#leave(job, outcome === null ? null : await this.#finish(job, outcome, false));
    } catch {
      // The engine stops, or the parent's log fails: the log says what is left to do, and the next process does it (C4).
      await this.#leave(job, null);
    }
  }

  /** Null where a stop came first. */
  async #outcomeOf(job: Job, earlier: Promise<unknown>): Promise<ChildOutcome | null> {
    const { shutdown } = this.#host;
    const stopped = AbortSignal.any([job.cancelling, job.givenUp, shutdown]);
    await untilAborted(job.turn, stopped);
    await untilAborted(earlier, stopped);
    if (shutdown.aborted || job.givenUp.aborted) return null;
    return job.cancelling.aborted ? withoutRun('cancelled') : this.#runChild(job);
  }

  async #runChild(job: Job): Promise<ChildOutcome | null> {
    try {
      const input = await this.#host.use(job.parentId, async ({ ledger }) => {
        const record = ledger.find(job.invocationId);
        return record === null ? null : childInput(record);
      });
      if (input === null) return null;
      const init = { clientRunId: clientRunIdOf(job), input, signal: job.cancelling };
      const { runId, done } = await this.#host.startRun(job.childId, init);
      // A cancel that fails leaves the run to its own end, which is waited for all the same.
      const stop = (): void => void this.#host.cancelRun(job.childId, runId).catch(() => undefined);
      const { status, text, error } = await whileListening(job.cancelling, stop, () => done);
      return status === 'running' ? null : { status, text, error };
    } catch (error) {
      if (this.#host.shutdown.aborted) return null;
      return job.cancelling.aborted ? withoutRun('cancelled') : failure(error);
    }
  }

  /** Writes the end and, where the inbox tells it, the message: in one step, the message first (DLG-11). */
  async #finish(job: Job, outcome: ChildOutcome, callWaits: boolean): Promise<DelegationRecord | null> {
    const { record, wakes } = await this.#host.use(job.parentId, async (held) => {
      const { ledger, log } = held;
      const record = ledger.find(job.invocationId);
      if (record === null || record.phase === 'finished') return { record, wakes: false };
      const ending = (): Ending => ({
        cancelledBy: job.cancelledBy,
        runCancelled: ledger.wasCancelled(record.parentRunId),
        callWaits,
      });
      const end = endOf(record, outcome, ending());
      const finished = { ...record, end };
      if (end.delivery === 'inbox') tell(held, finished);
      writeEnd(held, finished);
      // A call that waits ends in the same log and is synced with it.
      if (end.delivery !== 'call') await log.sync();
      return { record: ledger.find(job.invocationId), wakes: wakesParent(end, ending()) };
    });
    if (wakes) this.#host.wake(job.parentId);
    return record;
  }

  async #leave(job: Job, record: DelegationRecord | null): Promise<void> {
    this.#jobs.delete(job.invocationId);
    job.settle(record);
    if (job.background && job.parentId === job.rootId) await this.#giveTurns(job.rootId);
  }

  /** Null stands for any tree. */
  #track(rootId: SessionId | null, work: Promise<void>): void {
    const one = { rootId, work: work.finally(() => this.#atWork.delete(one)) };
    this.#atWork.add(one);
  }
}

/** The same delegation starts the same run, over crashes too. */
export function clientRunIdOf({ invocationId }: Pick<Job, 'invocationId'>): string {
  return `delegation:${invocationId}`;
}

/** What kept a child from starting, as its parent reads it. */
export function failure(error: unknown): ChildOutcome {
  const code = codeOf(error) ?? 'execution_failed';
  return { status: 'failed', text: '', error: { code, message: messageOf(error) } };
}
