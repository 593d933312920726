import type { Inbox, InboxLog, PrepareContext, SessionId, SubagentCandidate } from '@agentd/contract';
import type { Relation } from './relation.ts';

/** A session as messaging sees it. */
export interface Peer extends SubagentCandidate {
  /** The root of its tree; its own id for a root. */
  readonly rootId: SessionId;
  /** From its stored origin; null for a root. */
  readonly parentId: SessionId | null;
}

/**
 * Who is there.
 * Contract: a session counts while it exists and is not reverted, ended ones included; what it says of one is
 * stored fact, never an argument of a call.
 */
export interface PeerDirectory {
  /** A session of any tree; null where no session has this id. */
  readonly find: (sessionId: SessionId) => Promise<Peer | null>;
  /** All sessions of one tree, the root among them. */
  readonly tree: (rootId: SessionId) => Promise<readonly Peer[]>;
}

/** A session's inbox with the log that makes it durable. */
export interface HeldInbox {
  readonly inbox: Inbox;
  readonly sync: InboxLog['sync'];
}

/**
 * The inboxes of the sessions.
 * Contract: `use` hands out the one inbox that the session's own runs claim from, loaded from its log first where it
 * is not in memory, and keeps it there until `work` has settled; it rejects, before `work` began, for a session that
 * does not exist and once a shutdown has begun.
 */
export interface Inboxes {
  readonly use: <Value>(sessionId: SessionId, work: (held: HeldInbox) => Promise<Value>) => Promise<Value>;
}

/**
 * Gets sessions going.
 * Contract: returns at once and never throws; a session with waiting messages and without a run gets a run, once,
 * whose `run_start` boundary claims them; a running one is left alone.
 */
export interface Waker {
  readonly wake: (sessionId: SessionId) => void;
}

/** Contract: answers from the rules that hold for this session now, without asking anybody. */
export interface MessageRules {
  /** Whether an allow or ask rule for `message` reaches this relation. */
  readonly reach: (session: PrepareContext['session'], relation: Relation) => boolean;
}

/** Everything that messaging asks of others. */
export interface MessagingPorts {
  readonly directory: PeerDirectory;
  readonly inboxes: Inboxes;
  readonly waker: Waker;
  readonly rules: MessageRules;
  /** Aborts when the engine begins to stop. */
  readonly shutdown: AbortSignal;
}
