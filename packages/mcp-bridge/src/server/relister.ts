import type { Clock } from '@agentd/contract';

const FIRST_MS = 250;
const LONGEST_MS = 30_000;

export interface RelisterPorts {
  readonly clock: Clock;
  /** Lists once. Contract: resolves with whether the list is another one than before; never rejects. */
  readonly list: () => Promise<boolean>;
  /** Takes over what was started in the background. */
  readonly keep: (work: Promise<unknown>) => void;
}

/**
 * Turns notices that a list changed into few listings (MCP-4, field H13).
 *   N1. After a notice the list is read once, soon, or at once when `flush` is called.
 *   N2. Notices that come meanwhile lead to one more listing together.
 *   N3. A server whose notices mean nothing is asked less and less.
 */
export class Relister {
  readonly #ports: RelisterPorts;
  #isOld = false;
  #waitMs = FIRST_MS;
  #stopTimer: () => void = () => undefined;

  constructor(ports: RelisterPorts) {
    this.#ports = ports;
  }

  notice(): void {
    if (this.#isOld) return;
    this.#isOld = true;
    this.#stopTimer = this.#ports.clock.after(this.#waitMs, () => this.#ports.keep(this.flush()));
  }

  /** Lists now if there was a notice. Never rejects. */
  async flush(): Promise<void> {
    if (!this.#isOld) return;
    this.forget();
    const isOther = await this.#ports.list();
    this.#waitMs = isOther ? FIRST_MS : Math.min(this.#waitMs * 2, LONGEST_MS);
  }

  /** The connection that gave notice is gone. */
  forget(): void {
    this.#stopTimer();
    this.#isOld = false;
  }
}
