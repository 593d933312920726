import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventEnvelope, ModelMessage } from '@agentd/contract';
import { envelope } from '../file/testing/sample-events.ts';
import { historySize, modelMessages } from '../history.ts';
import type { EnginePayload } from '../events.ts';
import { SessionState } from '../session-state.ts';
import { assertValidRequest } from '../testing/assert-valid-request.ts';
import { eventsOf, scripts } from '../testing/session-script.ts';
import { messagesTokens } from './estimate.ts';

const text = fc.constantFrom('', ' ', 'kept', 'a\ud800b', 'nul\0', '[output taken out]');
const pressure = fc.oneof(
  fc.record({
    type: fc.constant('tool_output_elided' as const),
    tool_call_id: fc.nat(20).map((number) => `call-p${number}`),
    marker: text,
    byte_length: fc.nat(),
    references: fc.constant([] as { uri: string }[]),
  }),
  fc.record({
    type: fc.constant('context_checkpoint_committed' as const),
    through_seq: fc.nat(60),
    summary: text,
    said: fc.array(text, { maxLength: 2 }),
    model: fc.constantFrom(null, 'm/1'),
    reason: fc.constant('size' as const),
  }),
  fc.record({
    type: fc.constant('context_rehydrated' as const),
    files: fc.array(fc.record({ label: text, text }), { maxLength: 2 }),
  }),
);
const insertions = fc.array(fc.record({ at: fc.nat(80), payload: pressure }), { maxLength: 8 });
const losses = fc.array(fc.nat(80), { maxLength: 4 });

interface Insertion {
  readonly at: number;
  readonly payload: EnginePayload;
}

/** A log in which room was made at any place, and which lost some of its lines. */
function pressed(
  events: readonly EventEnvelope[],
  inserted: readonly Insertion[],
  lost: readonly number[] = [],
): readonly EventEnvelope[] {
  const lines = [...events];
  for (const { at, payload } of inserted) {
    const place = 1 + (at % lines.length);
    // The number stays what it was: inputs are told apart by it.
    lines.splice(place, 0, envelope(lines[place - 1]?.seq ?? 1, payload));
  }
  return lines.filter((_, index) => index === 0 || !lost.includes(index));
}

function assertValid(messages: readonly ModelMessage[]): void {
  if (messages.length === 0) return;
  assertValidRequest({ system: '', messages, tools: [], session: { id: '', agent: '', turns: [] } });
  expect(JSON.stringify(messages)).not.toMatch(/\\u0000|\\ud[89a-f]/);
}

describe('the history of a log in which room was made', () => {
  it('is valid for every provider, wherever that happened and whatever was lost [SES-5] [SES-8] [field I1]', () => {
    fc.assert(
      fc.property(scripts, insertions, losses, (script, inserted, lost) => {
        assertValid(modelMessages(SessionState.of(pressed(eventsOf(script), inserted, lost))));
      }),
      { numRuns: 250 },
    );
  });

  it('is the same event by event as at once, and so is its size [SES-8]', () => {
    fc.assert(
      fc.property(scripts, insertions, losses, (script, inserted, lost) => {
        const events = pressed(eventsOf(script), inserted, lost);
        const state = new SessionState();
        for (const [index, event] of events.entries()) {
          state.apply(event);
          const [now, size] = [modelMessages(state), historySize(state)];
          const fresh = SessionState.of(events.slice(0, index + 1));
          expect(size).toEqual(historySize(fresh));
          expect(now).toEqual(modelMessages(fresh));
          expect(size.tokens).toBe(messagesTokens(now));
        }
      }),
      { numRuns: 25 },
    );
  });

  it('answers each call that it shows, elided or not, and shows none that a checkpoint covers [SES-8]', () => {
    fc.assert(
      fc.property(scripts, insertions, (script, inserted) => {
        const state = SessionState.of(pressed(eventsOf(script), inserted));
        const shown = state.steps.slice(state.context.covered).flatMap(({ calls }) => calls);
        const results = modelMessages(state).flatMap((message) =>
          message.role === 'tool' ? message.content : [],
        );
        expect(results.map(({ provider_call_id: id }) => id)).toEqual(shown.map(({ wireId }) => wireId));
        for (const [index, { marker }] of shown.entries())
          if (marker === 'kept') expect(results[index]?.text).toMatch(/^kept/);
      }),
      { numRuns: 100 },
    );
  });
});
