import type { EngineEvent, LiveEvent } from '@agentd/engine';
import { titleOf } from './progress-lines.ts';

/** Enough for a line on any terminal. */
const TAIL_LENGTH = 300;

interface RunningCall {
  readonly title: string;
  readonly startedAt: number;
  /** The end of what it printed. */
  tail: string;
}

/** What a run is doing right now, in one line: for somebody who waits. */
export class LiveStatus {
  readonly #now: () => number;
  readonly #calls = new Map<string, RunningCall>();
  #model: string | null = null;
  #modelSince = 0;
  #said = '';

  constructor(now: () => number) {
    this.#now = now;
  }

  event({ payload }: EngineEvent): void {
    switch (payload.type) {
      case 'run_started':
        return this.#askModel(payload.model);
      case 'model_fallback':
        return this.#askModel(payload.to);
      case 'attempt_abandoned':
        return this.#askModel(payload.model);
      case 'tool_call_started': {
        const title = titleOf(payload.tool, payload.label);
        this.#calls.set(payload.tool_call_id, { title, startedAt: this.#now(), tail: '' });
        return;
      }
      case 'tool_call_terminated':
        this.#calls.delete(payload.tool_call_id);
        if (this.#calls.size === 0) this.#askModel(this.#model);
        return;
      default:
    }
  }

  live(event: LiveEvent): void {
    if (event.type === 'tool_output') {
      const call = this.#calls.get(event.tool_call_id);
      if (call !== undefined) call.tail = `${call.tail}${event.data}`.slice(-TAIL_LENGTH);
    }
    if (event.type !== 'model_delta') return;
    const { part } = event;
    if (part.type === 'reasoning-delta' || part.type === 'text-delta')
      this.#said = `${this.#said}${part.text}`.slice(-TAIL_LENGTH);
  }

  /** Null before a run has started. */
  text(): string | null {
    const [call] = this.#calls.values();
    if (call !== undefined) {
      const others = this.#calls.size === 1 ? '' : ` (and ${this.#calls.size - 1} more)`;
      return line(`▸ ${call.title}${others}`, this.#now() - call.startedAt, call.tail);
    }
    return this.#model === null ? null : line(`… ${this.#model}`, this.#now() - this.#modelSince, this.#said);
  }

  #askModel(model: string | null): void {
    this.#model = model;
    this.#modelSince = this.#now();
    this.#said = '';
  }
}

function line(what: string, elapsedMs: number, tail: string): string {
  const last = tail.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const waited = elapsedMs < 1000 ? '' : ` ${Math.floor(elapsedMs / 1000)} s`;
  return `${what}${waited}${last === '' ? '' : ` │ ${last}`}`;
}
