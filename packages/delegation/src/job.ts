import type { SessionId } from '@agentd/contract';
import type { DelegationRecord } from './delegation-record.ts';

/** Who ended a child early: the run that had started it was cancelled, or its parent called `cancel_subagent`. */
export type CancelledBy = 'run' | 'tool';

/** A delegation that this process carries to its end. */
export class Job {
  readonly invocationId: string;
  readonly childId: SessionId;
  readonly parentId: SessionId;
  readonly rootId: SessionId;
  readonly background: boolean;
  readonly #turn = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<DelegationRecord | null>();
  readonly #cancelling = new AbortController();
  readonly #givingUp = new AbortController();
  #cancelledBy: CancelledBy | null = null;

  constructor(
    { invocationId, childId, background }: DelegationRecord,
    { parentId, rootId }: { readonly parentId: SessionId; readonly rootId: SessionId },
  ) {
    this.invocationId = invocationId;
    this.childId = childId;
    this.background = background;
    this.parentId = parentId;
    this.rootId = rootId;
  }

  /** Resolves once the child may run (DLG-9). */
  get turn(): Promise<void> {
    return this.#turn.promise;
  }

  /** The finished record; null where a stop left the delegation to the next process. Never rejects. */
  get end(): Promise<DelegationRecord | null> {
    return this.#end.promise;
  }

  /** Aborts when the child is to end early. */
  get cancelling(): AbortSignal {
    return this.#cancelling.signal;
  }

  /** Aborts when this process cannot carry it on. */
  get givenUp(): AbortSignal {
    return this.#givingUp.signal;
  }

  /** The first who asked. */
  get cancelledBy(): CancelledBy | null {
    return this.#cancelledBy;
  }

  grant(): void {
    this.#turn.resolve();
  }

  /** Has no effect on a run that has ended. */
  cancel(by: CancelledBy): void {
    this.#cancelledBy ??= by;
    this.#cancelling.abort();
  }

  /** Leaves it to the next process. */
  giveUp(): void {
    this.#givingUp.abort();
  }

  settle(record: DelegationRecord | null): void {
    this.#end.resolve(record);
  }
}
