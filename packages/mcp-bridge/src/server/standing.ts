import type { ServerState } from './server-status.ts';

/** Where a server stands, and why; tells of each change. */
export class Standing {
  readonly #changed: () => void;
  #state: ServerState;
  #problem: string | null = null;

  constructor(state: ServerState, changed: () => void) {
    this.#state = state;
    this.#changed = changed;
  }

  get state(): ServerState {
    return this.#state;
  }

  get problem(): string | null {
    return this.#problem;
  }

  become(state: ServerState, problem: string | null = null): void {
    if (this.#state === state && this.#problem === problem) return;
    this.#state = state;
    this.#problem = problem;
    this.#changed();
  }
}
