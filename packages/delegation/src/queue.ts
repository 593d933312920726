import type { DelegationRecord } from './delegation-record.ts';
import type { DelegationLedger } from './ledger.ts';
import { queueCapacity, type DelegationSettings } from './settings.ts';

/** Only background children of a root take turns; all others run at once, so that nesting cannot deadlock (DLG-9). */
export function takesTurns({ background }: { readonly background: boolean }, depth: number): boolean {
  return background && depth === 0;
}

export interface QueueLoad {
  /** Background children that have their turn. */
  readonly running: number;
  /** In the order in which they get it. */
  readonly waiting: readonly DelegationRecord[];
}

/** Of a root's ledger. A reservation waits behind everything that was queued before. */
export function queueLoad(ledger: DelegationLedger): QueueLoad {
  const background = ledger.unfinished.filter((record) => record.background);
  return {
    running: background.filter(({ phase }) => phase === 'started').length,
    waiting: background.filter(({ phase }) => phase !== 'started'),
  };
}

/** Whether there is room for one more background child, at work or waiting. */
export function hasRoom({ running, waiting }: QueueLoad, settings: DelegationSettings): boolean {
  return running + waiting.length < settings.maxConcurrency + queueCapacity(settings);
}
