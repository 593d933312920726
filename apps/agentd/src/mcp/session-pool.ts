import { messageOf, toolError } from '@agentd/contract';
import type { LiveListener, Session, SessionListener } from '@agentd/engine';

export interface SessionPoolInit {
  /** Makes a session. */
  readonly open: (listener: SessionListener) => Promise<Session>;
  /** How many calls run together. */
  readonly maxTogether: number;
  /** How many more may wait. */
  readonly maxWaiting: number;
  /** How many calls one session takes: its log, and what is in memory of it, grow with each. */
  readonly maxCalls: number;
}

export interface PooledWork<Value> {
  /** Rejects where the session can take no more. */
  readonly run: (session: Session) => Promise<Value>;
  readonly live: LiveListener;
}

interface Slot {
  readonly session: Session;
  live: LiveListener;
  calls: number;
}

/**
 * Sessions for calls that overlap: one takes one call at a time.
 *   S1. A session has one call at a time; a session that is free is used before another one is made.
 *   S2. `maxTogether` calls run at most. Others wait in the order in which they came; past `maxWaiting` they fail at once.
 *   S3. A call whose signal aborts while it waits never runs.
 *   S4. A session whose call rejected, or that has had `maxCalls`, is closed and not used again.
 */
export class SessionPool {
  readonly #init: SessionPoolInit;
  readonly #free: Slot[] = [];
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(init: SessionPoolInit) {
    this.#init = init;
  }

  async use<Value>({ run, live }: PooledWork<Value>, signal: AbortSignal): Promise<Value> {
    await this.#enter(signal);
    try {
      const slot = this.#free.pop() ?? (await this.#opened());
      slot.live = live;
      const value = await this.#runIn(slot, run);
      await this.#putBack(slot);
      return value;
    } finally {
      this.#leave();
    }
  }

  async #runIn<Value>(slot: Slot, run: PooledWork<Value>['run']): Promise<Value> {
    try {
      return await run(slot.session);
    } catch (thrown) {
      await slot.session.close().catch(() => undefined);
      throw thrown;
    }
  }

  async #putBack(slot: Slot): Promise<void> {
    slot.live = nobody;
    slot.calls++;
    if (slot.calls < this.#init.maxCalls) this.#free.push(slot);
    // What its log still had to write was written before its last call ended.
    else await slot.session.close().catch(() => undefined);
  }

  async #opened(): Promise<Slot> {
    let slot: Slot | null = null;
    const session = await this.#init.open({ live: (event) => slot?.live(event) });
    slot = { session, live: nobody, calls: 0 };
    return slot;
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { maxTogether, maxWaiting } = this.#init;
    if (this.#taken < maxTogether) {
      this.#taken++;
      return;
    }
    if (this.#waiting.size >= maxWaiting) {
      const running = `${maxTogether} calls run and ${maxWaiting} wait`;
      throw toolError('resource_limit', `${running}: call again when some of them have ended`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#waiting.delete(resolve);
      reject(toolError('cancelled', `the call was cancelled before it ran: ${messageOf(signal.reason)}`));
    };
    this.#waiting.add(resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    await promise;
    signal.removeEventListener('abort', onAbort);
  }

  /** Hands the place on, or gives it back. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

const nobody: LiveListener = () => undefined;
