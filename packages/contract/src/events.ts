import type { JsonObject } from './json.ts';
import type { RunId, SessionId } from './ids.ts';

/** What an event says; each package owns the schemas of its types (EVT-2). */
export interface EventPayload extends JsonObject {
  readonly type: string;
}

/** One line of an `events.jsonl` (EVT-1). */
export interface EventEnvelope<Payload extends EventPayload = EventPayload> {
  /** Strictly rising within a session, from 1. */
  readonly seq: number;
  readonly session_id: SessionId;
  readonly run_id: RunId | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly timestamp: string;
  readonly engine_version: string;
  readonly payload: Payload;
}
