import type { InboxBoundary } from '@agentd/contract';
import type { MessageRecord } from './message-record.ts';

/**
 * What of the waiting messages enters at a boundary, in the order given.
 * Between calls only `steer` does; a `queue` message of the same sender then stays behind it, because waiting for
 * the end of the run is what its mode asks for (MSG-11). Wherever both may enter, the order of acceptance holds (MSG-10).
 */
export function dueAt(
  kind: InboxBoundary['kind'],
  waiting: readonly MessageRecord[],
): readonly MessageRecord[] {
  return kind === 'between_calls' ? waiting.filter(({ receipt }) => receipt.mode === 'steer') : waiting;
}
