import type { Ids, ModelErrorCode } from '@agentd/contract';
import type { EngineSettings } from './ports.ts';

const FIRST_WAIT_MS = 1000;
const JITTER = 0.25;

/** The budget of retries that a failure draws on; none where trying the same model again is of no use. */
const BUDGETS: Readonly<Partial<Record<ModelErrorCode, 'standard' | 'overload'>>> = {
  MODEL_RATE_LIMIT: 'standard',
  MODEL_UNAVAILABLE: 'standard',
  MODEL_OVERLOADED: 'overload',
};

/** A failed attempt, as far as waiting for the next one depends on it. */
export interface FailedAttempt {
  readonly code: ModelErrorCode;
  /** The server's own time to wait, in ms. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Counts the retries of one turn with one model (SES-9). The first wait is a second, each further one twice as long,
 * 25 % more or less, up to the ceiling; a longer time that the server asks for wins and is not capped.
 */
export class RetryPlan {
  readonly #limits: EngineSettings['retry'];
  readonly #ids: Ids;
  readonly #used = { standard: 0, overload: 0 };

  constructor(limits: EngineSettings['retry'], ids: Ids) {
    this.#limits = limits;
    this.#ids = ids;
  }

  /** How long to wait before the next attempt, in ms; null when there is to be none. */
  next({ code, retryAfterMs = 0 }: FailedAttempt): number | null {
    const budget = BUDGETS[code];
    if (budget === undefined || this.#used[budget] >= this.#limits[budget]) return null;
    const backoff = FIRST_WAIT_MS * 2 ** (this.#used.standard + this.#used.overload);
    this.#used[budget] += 1;
    const jittered = backoff * (1 - JITTER + 2 * JITTER * this.#random());
    return Math.max(1, Math.round(Math.min(jittered, this.#limits.ceilingMs)), retryAfterMs);
  }

  /** In [0, 1). */
  #random(): number {
    return Number.parseInt(this.#ids.hex(8), 16) / 2 ** 32;
  }
}
