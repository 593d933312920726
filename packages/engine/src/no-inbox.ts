import type { Inbox } from '@agentd/contract';

/** The inbox of an engine without messages: always empty. */
export const noInbox: Inbox = {
  activeRun: null,
  waiting: 0,
  unacknowledged: () => 0,
  highestHop: () => null,
  receiptOf: () => null,
  apply: () => undefined,
  accept: () => {
    throw new Error('this engine was made without an inbox');
  },
  discard: () => {
    throw new Error('this engine was made without an inbox');
  },
  claim: () => [],
  acknowledge: () => undefined,
  release: () => undefined,
};
