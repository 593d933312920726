import type { EventEnvelope, EventPayload, RunId } from '@agentd/contract';
import type { EngineEvent, EnginePayload, EventOf } from '../../events.ts';

export const SESSION = '00000000-0000-4000-8000-0000000000aa';
export const RUN = '00000000-0000-4000-8000-0000000000bb';

export const created: EventOf<'session_created'> = {
  type: 'session_created',
  handle: 'default_0000000a',
  agent: 'default',
  cwd: '/w',
  title: 'a title',
  origin: null,
};

export const input = (text: string, inputId = 'i1'): EnginePayload => ({
  type: 'user_input_submitted',
  input_id: inputId,
  text,
  kind: 'prompt',
});

/** An event as a log holds it. */
export function envelope(
  seq: number,
  payload: EventPayload | EnginePayload,
  runId: RunId | null = RUN,
): EventEnvelope {
  const event = {
    seq,
    session_id: SESSION,
    run_id: runId,
    timestamp: '2026-01-01T00:00:00.000Z',
    engine_version: '0.0.0',
    payload,
  };
  return event as EventEnvelope & EngineEvent;
}

/** The lines of a log that begins with `session_created`. */
export function logText(payloads: readonly (EventPayload | EnginePayload)[]): string {
  return [created, ...payloads]
    .map((payload, index) => `${JSON.stringify(envelope(index + 1, payload))}\n`)
    .join('');
}
