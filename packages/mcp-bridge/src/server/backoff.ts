import { pause, type Clock } from '@agentd/contract';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** When a server that failed may be started again: at once after a first failure, then later and later (MCP-4). */
export class Backoff {
  readonly #clock: Clock;
  #failures = 0;
  #notBefore = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  failed(): void {
    this.#failures += 1;
    const delay = this.#failures === 1 ? 0 : FIRST_DELAY_MS * 2 ** Math.min(this.#failures - 2, 10);
    this.#notBefore = this.#clock.now() + Math.min(delay, LONGEST_DELAY_MS);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Milliseconds from now; 0 for at once. */
  get remainingMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.now());
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (this.remainingMs > 0) await pause(this.remainingMs, this.#clock, signal);
  }
}
