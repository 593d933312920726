import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope, EventPayload } from '@agentd/contract';
import fc from 'fast-check';
import { InboxState } from './inbox-state.ts';
import { phaseAfter, type MessageStep } from './message-phase.ts';

const accepted = (id: string, changes: object = {}): EventPayload => ({
  type: 'message_accepted',
  message_id: id,
  owner: 'agent',
  from: 'a_00000001',
  mode: 'steer',
  idempotency_key: `key of ${id}`,
  body: `body of ${id}`,
  hop: 0,
  ...changes,
});
const step = (type: string, id: string): EventPayload => ({ type, message_id: id, text: 'text' });

/** Events in order; a run's id follows the payload where it has one. */
function logOf(...entries: readonly (EventPayload | readonly [EventPayload, string])[]): EventEnvelope[] {
  return entries.map((entry, index) => {
    const [payload, runId] = 'type' in entry ? [entry, null] : entry;
    return {
      seq: index + 1,
      session_id: 's',
      run_id: runId,
      timestamp: '2026-01-01T00:00:00.000Z',
      engine_version: 'test',
      payload,
    };
  });
}
const taken = (id: string, run: string): readonly (readonly [EventPayload, string])[] => [
  [step('message_admitted', id), run],
  [step('message_claimed', id), run],
];
const turn = (through: number): EventPayload => ({
  type: 'model_turn_committed',
  input_through_seq: through,
});

describe('what a log says of an inbox', () => {
  it('follows a message from acceptance to consumption [MSG-10]', () => {
    const events = logOf(
      accepted('m'),
      ...taken('m', 'r'),
      [turn(3), 'r'],
      [step('message_consumed', 'm'), 'r'],
    );
    const phases = events.map((_event, index) => InboxState.of(events.slice(0, index + 1)).find('m')?.phase);
    expect(phases).toEqual(['accepted', 'admitted', 'claimed', 'consumed', 'consumed']);
    expect(InboxState.of(events).faults).toEqual([]);
  });

  it('B3 counts a message as consumed by the turn that took its claim in, marker or not [MSG-10] [field G11]', () => {
    const before = logOf(accepted('m'), ...taken('m', 'r'), [turn(2), 'r']);
    expect(InboxState.of(before).find('m')?.phase).toBe('claimed');
    const after = logOf(accepted('m'), ...taken('m', 'r'), [turn(3), 'r']);
    expect(InboxState.of(after).find('m')?.phase).toBe('consumed');
    expect(InboxState.of(after).unmarked.map(({ receipt }) => receipt.messageId)).toEqual(['m']);
    expect(InboxState.of(after).unacknowledged()).toBe(0);
  });

  it('B2 keeps the first of two acceptances with one key or one id [MSG-6]', () => {
    const state = InboxState.of(
      logOf(
        accepted('m'),
        accepted('n', { idempotency_key: 'key of m' }),
        accepted('m', { idempotency_key: 'other' }),
      ),
    );
    expect(state.unclaimed.map(({ body }) => body)).toEqual(['body of m']);
    expect(state.receiptOf('key of m')?.messageId).toBe('m');
    expect(state.receiptOf('other')).toBe(null);
    expect(state.faults.map(({ seq, kind }) => [seq, kind])).toEqual([
      [2, 'illegal'],
      [3, 'illegal'],
    ]);
  });

  it.each([
    ['a claim without an admission', logOf(accepted('m'), [step('message_claimed', 'm'), 'r']), 'accepted'],
    ['an admission to no run', logOf(accepted('m'), step('message_admitted', 'm')), 'accepted'],
    [
      'the claim of another run',
      logOf(accepted('m'), [step('message_admitted', 'm'), 'r'], [step('message_claimed', 'm'), 'q']),
      'admitted',
    ],
    [
      'the release of another run',
      logOf(accepted('m'), ...taken('m', 'r'), [step('message_released', 'm'), 'q']),
      'claimed',
    ],
    [
      'discarding what is claimed',
      logOf(accepted('m'), ...taken('m', 'r'), step('message_discarded', 'm')),
      'claimed',
    ],
    [
      'claiming what was discarded',
      logOf(accepted('m'), step('message_discarded', 'm'), ...taken('m', 'r')),
      'discarded',
    ],
  ])('B1 passes over %s [MSG-10]', (_what, events, phase) => {
    const state = InboxState.of(events);
    expect(state.find('m')?.phase).toBe(phase);
    expect(state.faults.length).toBeGreaterThan(0);
  });

  it.each([
    ['an unknown owner', accepted('m', { owner: 'somebody' })],
    ['an unknown mode', accepted('m', { mode: 'shout' })],
    ['a body that is no text', accepted('m', { body: 7 })],
    ['a blank body', accepted('m', { body: ' \n' })],
    ['no key', accepted('m', { idempotency_key: undefined })],
    ['a negative hop', accepted('m', { hop: -1 })],
    ['no id', { ...accepted('m'), message_id: null }],
    ['a claim without its text', { type: 'message_claimed', message_id: 'm' }],
    ['a type with a name of every object', { type: 'constructor' }],
    ['a turn without its number', { type: 'model_turn_committed', input_through_seq: 'all' }],
    ['an event of a later version', { type: 'message_forwarded', message_id: 'm' }],
  ])('B4 reads on after %s [MSG-10]', (_what, payload) => {
    const state = InboxState.of(logOf(payload, accepted('n')));
    expect(state.unclaimed.map(({ body }) => body)).toEqual(['body of n']);
  });

  it('accepts fields that a later version adds [MSG-10]', () => {
    expect(InboxState.of(logOf(accepted('m', { colour: 'red' }))).waiting).toBe(1);
  });

  it('keeps what a sender was told of the recipient as it was then [MSG-2] [MSG-6]', () => {
    const run = (type: string, id: string) => [{ type }, id] as const;
    const state = InboxState.of(
      logOf(
        accepted('a'),
        run('run_started', 'r'),
        accepted('b'),
        run('run_failed', 'another'),
        accepted('c'),
        run('run_failed', 'r'),
        accepted('d'),
      ),
    );
    const states = ['a', 'b', 'c', 'd'].map((id) => state.receiptOf(`key of ${id}`)?.recipientState);
    expect(states).toEqual(['queued', 'running', 'running', 'waking_finished']);
  });

  it('counts what agents sent and nobody has read, all and by sender [MSG-7]', () => {
    const state = InboxState.of(
      logOf(
        accepted('accepted'),
        accepted('admitted'),
        accepted('claimed'),
        accepted('released'),
        accepted('consumed'),
        accepted('discarded'),
        accepted('of b', { from: 'b_00000002' }),
        accepted('of a child', { owner: 'delegation' }),
        step('message_discarded', 'discarded'),
        [step('message_admitted', 'admitted'), 'r'],
        ...taken('consumed', 'r'),
        [turn(12), 'r'],
        ...taken('released', 'r'),
        [step('message_released', 'released'), 'r'],
        ...taken('claimed', 'r'),
      ),
    );
    expect(state.unacknowledged()).toBe(5);
    expect(state.unacknowledged('a_00000001')).toBe(4);
    expect(state.unacknowledged('nobody')).toBe(0);
    expect(state.waiting).toBe(5);
  });

  it('knows the highest hop that a run has claimed or consumed, agents alone [MSG-7]', () => {
    const state = InboxState.of(
      logOf(
        accepted('one', { hop: 1 }),
        accepted('three', { hop: 3 }),
        accepted('five', { hop: 5 }),
        accepted('nine', { hop: 9, owner: 'delegation' }),
        ...taken('one', 'r'),
        [turn(6), 'r'],
        ...taken('three', 'r'),
        ...taken('nine', 'r'),
        [step('message_admitted', 'five'), 'r'],
        ...taken('five', 'q'),
      ),
    );
    expect([state.highestHop('r'), state.highestHop('q'), state.highestHop('none')]).toEqual([3, 5, null]);
    expect(
      InboxState.of(
        logOf(accepted('m', { hop: 2 }), ...taken('m', 'r'), [step('message_released', 'm'), 'r']),
      ).highestHop('r'),
    ).toBe(null);
  });

  it('takes only legal steps, whatever the log says [MSG-10]', () => {
    const steps: Readonly<Record<string, MessageStep>> = {
      message_admitted: 'admit',
      message_claimed: 'claim',
      message_released: 'release',
      message_consumed: 'consume',
      message_discarded: 'discard',
    };
    const payload = fc.oneof(
      fc.constantFrom('m', 'n').map((id) => accepted(id)),
      fc
        .tuple(fc.constantFrom(...Object.keys(steps)), fc.constantFrom('m', 'n'))
        .map(([t, id]) => step(t, id)),
      fc.nat(40).map((through) => turn(through)),
      fc.dictionary(fc.string(), fc.jsonValue()).map((any) => ({ ...any, type: 'message_claimed' })),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(payload, fc.constantFrom('r', 'q')), { maxLength: 40 }), (entries) => {
        const state = new InboxState();
        for (const event of logOf(...entries)) {
          const before = state.find('m')?.phase;
          state.apply(event);
          const after = state.find('m')?.phase;
          if (before === after) continue;
          if (before === undefined) expect(after).toBe('accepted');
          else if (event.payload.type === 'model_turn_committed')
            expect([before, after]).toEqual(['claimed', 'consumed']);
          else expect(after).toBe(phaseAfter(before, steps[event.payload.type]!));
        }
      }),
      { numRuns: 300 },
    );
  });
});
