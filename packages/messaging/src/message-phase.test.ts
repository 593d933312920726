import { describe, expect, it } from '@jest/globals';
import {
  isAcknowledged,
  isUnclaimed,
  phaseAfter,
  type MessagePhase,
  type MessageStep,
} from './message-phase.ts';

const PHASES: readonly MessagePhase[] = [
  'accepted',
  'admitted',
  'claimed',
  'released',
  'consumed',
  'discarded',
];
const LEGAL: Readonly<Record<MessageStep, Partial<Record<MessagePhase, MessagePhase>>>> = {
  admit: { accepted: 'admitted', admitted: 'admitted', released: 'admitted' },
  claim: { admitted: 'claimed' },
  release: { claimed: 'released' },
  consume: { claimed: 'consumed' },
  discard: { accepted: 'discarded', admitted: 'discarded', released: 'discarded' },
};

describe('the phases of a message', () => {
  it.each(Object.keys(LEGAL) as MessageStep[])(
    'lead with %s where the rule says, and nowhere else [MSG-10]',
    (step) => {
      for (const phase of PHASES)
        expect([phase, phaseAfter(phase, step)]).toEqual([phase, LEGAL[step][phase] ?? null]);
    },
  );

  it('count as acknowledged once consumed or discarded, and only then [MSG-7]', () => {
    expect(PHASES.filter(isAcknowledged)).toEqual(['consumed', 'discarded']);
    expect(PHASES.filter(isUnclaimed)).toEqual(['accepted', 'admitted', 'released']);
  });
});
