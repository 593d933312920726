import type { ModelMessage } from '@agentd/contract';
import type { SessionState } from './session-state.ts';

export function modelMessages(_state: SessionState): readonly ModelMessage[] {
  throw new Error('not written yet');
}
