import type { EngineEvent, LoggedPayload } from '../events.ts';

/** JSON writes half a surrogate pair as an escape, which many readers refuse. */
const SURROGATE_ESCAPE = /\\ud[89a-f]/;

/** An event before it is a line. */
export type EventDraft = Omit<EngineEvent, 'payload'> & { readonly payload: LoggedPayload };

export interface EncodedEvent {
  /** Exactly what a later reader will get; it shares nothing with what was passed. */
  readonly event: EngineEvent;
  /** One line with its end: no raw NUL, no half surrogate pair. */
  readonly line: string;
}

/**
 * Makes the line of an event. A half surrogate pair becomes U+FFFD; a NUL stays, as the escape that JSON has for it,
 * so that what a tool was given is what the log says.
 */
export function encodeEvent(draft: EventDraft): EncodedEvent {
  const text = JSON.stringify(draft);
  const sound = SURROGATE_ESCAPE.test(text) ? JSON.stringify(JSON.parse(text, wellFormed)) : text;
  return { event: JSON.parse(sound) as EngineEvent, line: `${sound}\n` };
}

function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key.toWellFormed(), child]));
}
