import type { AcceptedMessage, MessageOwner, RunId } from '@agentd/contract';
import type { MessagePhase } from './message-phase.ts';

/** One message of an inbox. */
export interface MessageRecord {
  readonly owner: MessageOwner;
  readonly from: string;
  readonly hop: number;
  /** What its sender was told. */
  readonly receipt: AcceptedMessage;
  readonly phase: MessagePhase;
  /** Empty once the message is acknowledged: nobody needs it any more. */
  readonly body: string;
  /** The run that it was admitted to last. */
  readonly runId: RunId | null;
  /** The number of its newest claim; 0 before any. */
  readonly claimSeq: number;
}
