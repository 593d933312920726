import type { OutputLimits, OutputStore } from '@agentd/contract';
import type { EventSink } from './ports.ts';
import type { SessionState } from './session-state.ts';

export interface RecoveryPorts {
  /** Must follow the sink: what is appended is applied to it. */
  readonly state: SessionState;
  readonly sink: EventSink;
  readonly outputs: OutputStore;
  readonly limits: OutputLimits;
}

export async function recover(_ports: RecoveryPorts): Promise<void> {
  throw new Error('not written yet');
}
