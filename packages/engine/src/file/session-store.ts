import type { Clock, FileLocks, Ids } from '@agentd/contract';
import type { SessionStore } from '../ports.ts';

export interface FileSessionStoreInit {
  /** Made on the first `create`, 0700. */
  readonly folder: string;
  readonly locks: FileLocks;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly engineVersion: string;
}

export function fileSessionStore(_init: FileSessionStoreInit): SessionStore {
  throw new Error('not written yet');
}
