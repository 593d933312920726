import type { EventEnvelope, RunId } from '@agentd/contract';
import type { EngineEvent, EnginePayload, EventOf } from './events.ts';
import type { EventLog, EventSink, LiveEvent, LiveListener } from './ports.ts';
import { SessionState } from './session-state.ts';

/** Who watches a session. A listener that throws is cut off; it can never break a run. */
export interface SessionListener {
  /** Durable events in order, each after it is on disk (SES-2). */
  readonly event?: (event: EngineEvent) => void;
  /** What is shown while it happens, at once. */
  readonly live?: LiveListener;
}

export interface SessionJournalInit {
  readonly log: EventLog;
  /** What the log held when it was opened. */
  readonly events: readonly EventEnvelope[];
  readonly listener: SessionListener;
}

/**
 * The one way into a session's log.
 *   J1. Every event goes to the log and to the state at once, in the same order.
 *   J2. Listeners get an event only after a sync that covers it, in the order of the log, once.
 *   J3. A listener that throws gets nothing more, and nobody else notices.
 *   J4. Whether somebody was told that the log cannot be written is known, so that nobody is told the same twice.
 */
export class SessionJournal {
  readonly state: SessionState;
  /** Passes live events on. */
  readonly live: LiveListener = (event) => this.#deliverLive(event);
  readonly #log: EventLog;
  #listener: SessionListener;
  #undelivered: EngineEvent[] = [];
  #faultTold = false;
  #notes: EventOf<'agents_md_loaded'> | null = null;

  constructor({ log, events, listener }: SessionJournalInit) {
    this.#log = log;
    this.#listener = listener;
    this.state = SessionState.of(events);
    for (const event of events as readonly EngineEvent[]) this.#keepNotes(event.payload);
  }

  /** What the workspace said to its agents last (CFG-1). */
  get notes(): EventOf<'agents_md_loaded'> | null {
    return this.#notes;
  }

  /** Whether a `sync` has rejected. */
  get faultTold(): boolean {
    return this.#faultTold;
  }

  append(payload: EnginePayload, runId: RunId | null): EngineEvent {
    const event = this.#log.append(payload, runId);
    this.state.apply(event);
    this.#keepNotes(payload);
    this.#undelivered.push(event);
    return event;
  }

  async sync(): Promise<void> {
    const through = this.#undelivered.at(-1)?.seq ?? 0;
    await this.#log.sync().catch((error: unknown) => {
      this.#faultTold = true;
      throw error;
    });
    this.#deliverThrough(through);
  }

  /** A sink whose events belong to the run that is active when they are appended. */
  sinkOfActiveRun(): EventSink {
    return {
      append: (payload) => this.append(payload, this.state.activeRun?.runId ?? null),
      sync: () => this.sync(),
    };
  }

  sinkOf(runId: RunId): EventSink {
    return { append: (payload) => this.append(payload, runId), sync: () => this.sync() };
  }

  /** Shows the listener events that were on disk before this journal began. */
  replay(events: readonly EngineEvent[]): void {
    for (const event of events) this.#deliver(event);
  }

  #deliverThrough(seq: number): void {
    while (this.#undelivered[0] !== undefined && this.#undelivered[0].seq <= seq) {
      const event = this.#undelivered.shift();
      if (event !== undefined) this.#deliver(event);
    }
  }

  #deliver(event: EngineEvent): void {
    try {
      this.#listener.event?.(event);
    } catch {
      this.#listener = {};
    }
  }

  #deliverLive(event: LiveEvent): void {
    try {
      this.#listener.live?.(event);
    } catch {
      this.#listener = {};
    }
  }

  #keepNotes(payload: EnginePayload): void {
    if (payload.type === 'agents_md_loaded') this.#notes = payload;
  }
}
