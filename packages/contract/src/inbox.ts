import type { EventEnvelope, EventPayload } from './events.ts';
import type { RunId } from './ids.ts';

/** Who put a message there: another agent, the end of a child, the goal, a plugin. */
export type MessageOwner = 'agent' | 'delegation' | 'goal' | 'plugin';

/** `steer` joins at the next safe boundary; `queue` waits until the run has nothing left to do (MSG-3, MSG-11). */
export type MessageMode = 'steer' | 'queue';

/** What the recipient was when it got a message: in a run, without any run so far, or after one (MSG-2). */
export type RecipientState = 'running' | 'queued' | 'waking_finished';

/** A message to be accepted. */
export interface MessageDraft {
  readonly owner: MessageOwner;
  /** The sender's handle; for `goal` and `plugin` a name. Messages of one `from` are one lane of MSG-10. */
  readonly from: string;
  readonly mode: MessageMode;
  /** The same key is the same message, for ever (MSG-6). */
  readonly idempotencyKey: string;
  /** As written; not blank. */
  readonly body: string;
  /** How many messages led to this one (MSG-7); 0 unless given. */
  readonly hop?: number;
}

/** What a sender is told. A repeated key gets all of it as the first time, `existing` apart. */
export interface AcceptedMessage {
  readonly messageId: string;
  readonly mode: MessageMode;
  readonly recipientState: RecipientState;
  /** The key was known: nothing was accepted now. */
  readonly existing: boolean;
}

/** A place where messages may enter a conversation (MSG-3, MSG-11). */
export interface InboxBoundary {
  readonly runId: RunId;
  /**
   * `run_start`: before the first request of a run. `between_calls`: all results of a turn are there and the next
   * request is not made. `run_end`: the model made no calls; the run ends unless something is claimed.
   */
  readonly kind: 'run_start' | 'between_calls' | 'run_end';
  /** Whether this run may answer the agent with this handle; the message then says how (MSG-9). */
  readonly canReply: (handle: string) => boolean;
}

/** A message as the model reads it: the text of one user turn, or of a part of one. */
export interface ClaimedMessage {
  readonly messageId: string;
  readonly owner: MessageOwner;
  readonly text: string;
}

/** What guards ask of an inbox. */
export interface InboxView {
  /** The run that is active, by the events of the log. */
  readonly activeRun: RunId | null;
  /** Messages that a run would take at its start: neither claimed nor consumed nor discarded. */
  readonly waiting: number;
  /** Agents' messages that are neither consumed nor discarded: all of them, or those of one sender (MSG-7). */
  readonly unacknowledged: (from?: string) => number;
  /** The highest hop among agents' messages that this run has claimed or consumed; null without any (MSG-7). */
  readonly highestHop: (runId: RunId) => number | null;
  /** What the sender with this key was told (MSG-6). */
  readonly receiptOf: (idempotencyKey: string) => AcceptedMessage | null;
}

/**
 * The inbox of one session: a state machine over the events of its log (MSG-10).
 * Contract: every method returns at once and appends its events in one step; what it appends is durable with the
 * log's next sync; a `message_claimed` carries the text, so that the history needs the log alone.
 */
export interface Inbox extends InboxView {
  /** Contract: called with every event of the session's log, in order; an event that was applied before changes nothing. */
  readonly apply: (event: EventEnvelope) => void;
  /** Contract: never refuses a sound draft, since guards come before; tell the sender only after a sync. */
  readonly accept: (draft: MessageDraft) => AcceptedMessage;
  /** Contract: throws `MESSAGING_ILLEGAL_STEP` for a message that is unknown, claimed or consumed; a second time changes nothing. */
  readonly discard: (messageId: string) => void;
  /** Contract: claims what is due, in order of acceptance, and hands it out once; writes nothing where nothing is due. */
  readonly claim: (boundary: InboxBoundary) => readonly ClaimedMessage[];
  /** Contract: called after each committed turn; marks as consumed what that turn's request had taken in. */
  readonly acknowledge: () => void;
  /** Contract: called when a run has ended and when a log was opened; acknowledges, then gives back every other claim. */
  readonly release: () => void;
}

/**
 * Where an inbox writes: the log of its session.
 * Contract: `append` gives the event its number at once, higher than every number before; `sync` resolves once all
 * that was appended is on disk.
 */
export interface InboxLog {
  readonly append: (payload: EventPayload, runId: RunId | null) => EventEnvelope;
  readonly sync: () => Promise<void>;
}

export interface InboxInit {
  readonly log: Pick<InboxLog, 'append'>;
  /** What the log held when it was opened; events that are hidden by a revert left out. */
  readonly events: readonly EventEnvelope[];
}

/** Contract: rebuilds the inbox from the events, whatever they are, and writes nothing. */
export type OpenInbox = (init: InboxInit) => Inbox;
