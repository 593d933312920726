import { describe, expect, it } from '@jest/globals';
import type { EventPayload } from '@agentd/contract';
import { InputLedger } from './input-ledger.ts';

function ledgerOf(...payloads: readonly EventPayload[]): InputLedger {
  const ledger = new InputLedger();
  for (const [index, payload] of payloads.entries())
    ledger.apply({ seq: index + 1, run_id: 'r', payload } as never);
  return ledger;
}

const claimed = (id: string, text: string) => ({ type: 'message_claimed', message_id: id, text });
const released = (id: string) => ({ type: 'message_released', message_id: id });

describe('InputLedger', () => {
  it('I1 takes a message in with its claim and lets it go with its release; the later claim counts [MSG-10]', () => {
    const ledger = ledgerOf(
      claimed('a', 'first'),
      claimed('b', 'other'),
      released('a'),
      claimed('a', 'second'),
    );
    expect(ledger.texts).toEqual(['other', 'second']);
    expect(ledgerOf(claimed('a', 'first'), claimed('a', 'again')).texts).toEqual(['again']);
    expect(ledgerOf(claimed('a', 'first'), released('a')).texts).toEqual([]);
  });

  it('I2 leaves with its turn what that turn has taken in [MSG-10]', () => {
    const ledger = ledgerOf(claimed('a', 'first'), claimed('b', 'second'));
    expect(ledger.take(1).texts).toEqual(['first']);
    for (const payload of [released('a'), claimed('a', 'again')])
      ledger.apply({ seq: 3, run_id: 'r', payload } as never);
    expect(ledger.texts).toEqual(['second']);
  });

  it('counts no message among what the user said, and passes damaged events over', () => {
    const ledger = ledgerOf(claimed('a', 'text'), { type: 'message_claimed', message_id: 7, text: 'x' });
    expect(ledger.pending).toEqual([]);
    expect(ledgerOf({ type: 'message_claimed', message_id: 'a', text: 7 }).texts).toEqual([]);
    expect(ledger.texts).toEqual(['text']);
  });
});
