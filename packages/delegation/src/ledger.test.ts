import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope, EventPayload, RunId } from '@agentd/contract';
import fc from 'fast-check';
import { DelegationLedger } from './ledger.ts';
import { memoryLog } from './testing/memory-log.ts';

const RESERVED = {
  type: 'delegation_reserved',
  invocation_id: 'i',
  child_id: 'c',
  handle: 'explore_00000001',
  agent: 'explore',
  title: 't',
  prompt: 'p',
  background: true,
  resumes: false,
  inherited: 'User: hello',
  parent_run_id: 'r',
  tool_call_id: 'call',
} as const;
const QUEUED = { type: 'delegation_queued', invocation_id: 'i' } as const;
const STARTED = { type: 'delegation_started', invocation_id: 'i' } as const;
const FINISHED = {
  type: 'delegation_finished',
  invocation_id: 'i',
  status: 'completed',
  preview: 'well',
  lines: 1,
  truncated: false,
  error: null,
  delivery: 'inbox',
} as const;

function logOf(payloads: readonly EventPayload[], runId: RunId | null = 'r'): readonly EventEnvelope[] {
  const log = memoryLog({ sessionId: 's' });
  for (const payload of payloads) log.append(payload, runId);
  return log.events;
}

const ledgerOf = (...payloads: readonly EventPayload[]) =>
  new DelegationLedger({ sessionId: 's', events: logOf(payloads) });

describe('the ledger of a session', () => {
  it('follows a delegation to its end and then forgets what it no longer needs [DLG-11]', () => {
    const phases = [RESERVED, QUEUED, STARTED, FINISHED].map((_, index, all) => {
      const ledger = ledgerOf(...all.slice(0, index + 1));
      return [ledger.find('i')?.phase, ledger.find('i')?.prompt, ledger.unfinished.length];
    });
    expect(phases).toEqual([
      ['reserved', 'p', 1],
      ['queued', 'p', 1],
      ['started', 'p', 1],
      ['finished', '', 0],
    ]);
    const { end, inherited } = ledgerOf(RESERVED, FINISHED).find('i') ?? {};
    expect([end?.status, end?.delivery, inherited]).toEqual(['completed', 'inbox', null]);
  });

  it.each([
    ['a second reservation', [RESERVED, STARTED, { ...RESERVED, child_id: 'other' }]],
    ['a step back', [RESERVED, STARTED, QUEUED]],
    ['a second start', [RESERVED, STARTED, STARTED]],
    ['a damaged end', [RESERVED, STARTED, { ...FINISHED, status: 'done' }]],
    ['an end of something else', [RESERVED, STARTED, { ...FINISHED, invocation_id: 'j' }]],
  ])('passes over %s, and tells of it [DLG-11]', (_what, payloads) => {
    const ledger = ledgerOf(...payloads);
    expect(ledger.find('i')).toMatchObject({ phase: 'started', childId: 'c' });
    expect(ledger.faults).toMatchObject([{ seq: 3 }]);
  });

  it('keeps the first end [DLG-11]', () => {
    const ledger = ledgerOf(RESERVED, FINISHED, { ...FINISHED, status: 'failed' });
    expect(ledger.find('i')?.end?.status).toBe('completed');
  });

  it('knows the active run, by events of known runs alone [DLG-11]', () => {
    const started = { type: 'run_started' };
    expect(ledgerOf(started).activeRun).toBe('r');
    expect(ledgerOf(started, { type: 'run_completed' }).activeRun).toBe(null);
    const ledger = ledgerOf(started);
    ledger.apply({ ...logOf([{ type: 'run_failed' }], 'q')[0]!, seq: 2 });
    expect(ledger.activeRun).toBe('r');
  });

  it('tells of a cancelled run when it happens, once, and not when the log is read again [DLG-10]', () => {
    const cancelled: string[] = [];
    const events = logOf([{ type: 'run_started' }, { type: 'run_cancelled' }]);
    const open = (seen: number) =>
      new DelegationLedger({ sessionId: 's', events: events.slice(0, seen) }, (_ledger, runId) =>
        cancelled.push(runId),
      );
    open(2).apply(events[1]!);
    expect(cancelled).toEqual([]);
    const live = open(1);
    for (const event of [...events, ...events]) live.apply(event);
    expect(cancelled).toEqual(['r']);
    expect(live.wasCancelled('r')).toBe(true);
  });

  it('sees that the call is gone that waited for a foreground child, and only that one [DLG-11]', () => {
    const ended = (outcome: string, callId = 'call') =>
      ({ type: 'tool_call_terminated', tool_call_id: callId, outcome }) as const;
    const foreground = { ...RESERVED, background: false };
    const lost = (...payloads: readonly EventPayload[]) => ledgerOf(...payloads).find('i')?.callLost;
    expect(lost(foreground, ended('interrupted'))).toBe(true);
    expect(lost(foreground, ended('cancelled'))).toBe(false);
    expect(lost(foreground, ended('interrupted', 'other'))).toBe(false);
    expect(lost(RESERVED, ended('interrupted'))).toBe(false);
  });

  it('is the same whether it saw the events or read them, whatever they are, and never throws [DLG-11]', () => {
    const payload = fc.oneof(
      fc.constantFrom<EventPayload>(RESERVED, QUEUED, STARTED, FINISHED, { type: 'run_started' }),
      fc.record({
        type: fc.constantFrom('delegation_reserved', 'delegation_finished', 'tool_call_terminated', 'x'),
        invocation_id: fc.oneof(fc.constant('i'), fc.jsonValue()),
        tool_call_id: fc.jsonValue(),
      }) as fc.Arbitrary<EventPayload>,
    );
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 12 }), (payloads) => {
        const events = logOf(payloads);
        const read = new DelegationLedger({ sessionId: 's', events });
        const live = new DelegationLedger({ sessionId: 's', events: [] });
        for (const event of events) live.apply(event);
        expect([live.unfinished, live.finished, live.activeRun]).toEqual([
          read.unfinished,
          read.finished,
          read.activeRun,
        ]);
      }),
      { numRuns: 200 },
    );
  });
});
