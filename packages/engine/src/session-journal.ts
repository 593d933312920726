import type {
  EventEnvelope,
  Inbox,
  InboxLog,
  OpenInbox,
  OpenProjection,
  RunId,
  SessionId,
  SessionProjection,
} from '@agentd/contract';
import type { EngineEvent, EventOf, LoggedPayload } from './events.ts';
import { noInbox } from './no-inbox.ts';
import type { EventLog, EventSink, LiveEvent, LiveListener } from './ports.ts';
import { SessionState } from './session-state.ts';

/** Who watches a session and its tree. A listener that throws is cut off; it can never break a run. */
export interface SessionListener {
  /** Durable events in order, each after it is on disk (SES-2). */
  readonly event?: (event: EngineEvent) => void;
  /** What is shown while it happens, at once, with the session that it happens in. */
  readonly live?: (event: LiveEvent, sessionId: SessionId) => void;
}

/** What other packages keep of a session beside the engine. */
export interface SessionViews {
  readonly inbox?: OpenInbox | undefined;
  readonly ledger?: OpenProjection<SessionProjection> | undefined;
}

export interface SessionJournalInit {
  readonly sessionId: SessionId;
  readonly log: EventLog;
  /** What the log held when it was opened. */
  readonly events: readonly EventEnvelope[];
  readonly listener: SessionListener;
  readonly views?: SessionViews;
}

const noLedger: SessionProjection = { apply: () => undefined };

/**
 * The one way into a session's log.
 *   J1. Every event goes to the log, the state, the inbox and the ledger at once, in the same order.
 *   J2. Listeners get an event only after a sync that covers it, in the order of the log, once.
 *   J3. A listener that throws gets nothing more, and nobody else notices.
 *   J4. Whether somebody was told that the log cannot be written is known, so that nobody is told the same twice.
 */
export class SessionJournal {
  readonly state: SessionState;
  readonly inbox: Inbox;
  /** What delegation keeps of the session. */
  readonly ledger: SessionProjection;
  /** For who writes events of its own. */
  readonly asLog: InboxLog;
  /** Passes live events on. */
  readonly live: LiveListener = (event) => this.#deliverLive(event);
  readonly #sessionId: SessionId;
  readonly #log: EventLog;
  #listener: SessionListener;
  #undelivered: EngineEvent[] = [];
  #fault: unknown = null;
  #notes: EventOf<'agents_md_loaded'> | null = null;

  constructor({ sessionId, log, events, listener, views = {} }: SessionJournalInit) {
    this.#sessionId = sessionId;
    this.#log = log;
    this.#listener = listener;
    this.asLog = {
      append: (payload, runId) => this.append(payload, runId) as EventEnvelope,
      sync: () => this.sync(),
    };
    this.state = SessionState.of(events);
    const opened = { sessionId, log: this.asLog, events };
    this.inbox = views.inbox?.(opened) ?? noInbox;
    this.ledger = views.ledger?.(opened) ?? noLedger;
    for (const event of events as readonly EngineEvent[]) this.#keepNotes(event.payload);
  }

  /** What the workspace said to its agents last (CFG-1). */
  get notes(): EventOf<'agents_md_loaded'> | null {
    return this.#notes;
  }

  /** What `sync` has rejected with, and always will: whoever was told is told nothing new. Null for a sound log. */
  get fault(): unknown {
    return this.#fault;
  }

  append(payload: LoggedPayload, runId: RunId | null): EngineEvent {
    const event = this.#log.append(payload, runId);
    this.state.apply(event);
    this.#keepNotes(event.payload);
    // Before the views: what they may append in answer comes after this event.
    this.#undelivered.push(event);
    this.inbox.apply(event as EventEnvelope);
    this.ledger.apply(event as EventEnvelope);
    return event;
  }

  async sync(): Promise<void> {
    const through = this.#undelivered.at(-1)?.seq ?? 0;
    await this.#log.sync().catch((error: unknown) => {
      this.#fault ??= error;
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
      this.#listener.live?.(event, this.#sessionId);
    } catch {
      this.#listener = {};
    }
  }

  #keepNotes(payload: EngineEvent['payload']): void {
    if (payload.type === 'agents_md_loaded') this.#notes = payload;
  }
}
