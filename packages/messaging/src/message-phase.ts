/** Where a message is (MSG-10). It is acknowledged in the last two, and then stays there. */
export type MessagePhase = 'accepted' | 'admitted' | 'claimed' | 'released' | 'consumed' | 'discarded';

/** What happens to a message after it was accepted. */
export type MessageStep = 'admit' | 'claim' | 'release' | 'consume' | 'discard';

interface StepRule {
  readonly from: readonly MessagePhase[];
  readonly to: MessagePhase;
}

const UNCLAIMED = ['accepted', 'admitted', 'released'] as const;

const RULES: Readonly<Record<MessageStep, StepRule>> = {
  admit: { from: UNCLAIMED, to: 'admitted' },
  claim: { from: ['admitted'], to: 'claimed' },
  release: { from: ['claimed'], to: 'released' },
  consume: { from: ['claimed'], to: 'consumed' },
  discard: { from: UNCLAIMED, to: 'discarded' },
};

/** Where the step leads; null where the message must not take it. */
export function phaseAfter(phase: MessagePhase, step: MessageStep): MessagePhase | null {
  const { from, to } = RULES[step];
  return from.includes(phase) ? to : null;
}

/** Whether nothing holds the message: a boundary may claim it, its owner may discard it. */
export function isUnclaimed(phase: MessagePhase): boolean {
  return phaseAfter(phase, 'discard') !== null;
}

/** Whether nothing will happen to the message any more (MSG-7). */
export function isAcknowledged(phase: MessagePhase): boolean {
  return phase === 'consumed' || phase === 'discarded';
}
