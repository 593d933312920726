import { describe, expect, it } from '@jest/globals';
import type { EventOf } from '../events.ts';
import { ApprovalLedger } from './grants.ts';

const request = (approvalId: string, label: string): EventOf<'approval_requested'> => ({
  type: 'approval_requested',
  approval_id: approvalId,
  tool_call_id: 'c',
  action: 'write',
  label,
  operation_sha256: '',
  expires_at: null,
});
const answer = (
  approvalId: string,
  { decision, source }: Pick<EventOf<'approval_finalized'>, 'decision' | 'source'>,
): EventOf<'approval_finalized'> => ({
  type: 'approval_finalized',
  approval_id: approvalId,
  decision,
  source,
  feedback: null,
});

describe('what the answers in a log amount to', () => {
  it('is a grant for that action and exact resource once the user said always [PERM-7]', () => {
    const ledger = new ApprovalLedger();
    ledger.apply(request('1', 'a.txt'));
    expect(ledger.has({ action: 'write', label: 'a.txt' })).toBe(false);
    ledger.apply(answer('1', { decision: 'always', source: 'user' }));
    expect(ledger.has({ action: 'write', label: 'a.txt' })).toBe(true);
    expect(ledger.has({ action: 'write', label: 'b.txt' })).toBe(false);
    expect(ledger.has({ action: 'read', label: 'a.txt' })).toBe(false);
  });

  it.each([
    ['once', 'user'],
    ['reject', 'user'],
    ['expired', 'user'],
    ['always', 'mode'],
  ] as const)('is none after %s by %s [PERM-7]', (decision, source) => {
    const ledger = new ApprovalLedger();
    ledger.apply(request('1', 'a.txt'));
    ledger.apply(answer('1', { decision, source }));
    expect(ledger.has({ action: 'write', label: 'a.txt' })).toBe(false);
  });

  it('keeps the questions that have no answer, and takes an answer without its question', () => {
    const ledger = new ApprovalLedger();
    ledger.apply(request('1', 'a'));
    ledger.apply(request('2', 'b'));
    ledger.apply(answer('1', { decision: 'once', source: 'user' }));
    ledger.apply(answer('lost', { decision: 'always', source: 'user' }));
    expect(ledger.open).toEqual(['2']);
  });
});
