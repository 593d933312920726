import { AgentdError, codeOf, messageOf } from '@agentd/contract';

export type ArtifactStoreErrorCode =
  /** A call id that is no UUID: it would become part of a file name. */
  | 'ARTIFACT_STORE_CALL_ID'
  /** A declaration that breaks OUT-1. */
  | 'ARTIFACT_STORE_DECLARATION'
  /** A chunk for a stream that was not declared. */
  | 'ARTIFACT_STORE_STREAM_UNDECLARED'
  /** Text for a capture that was finished or discarded. */
  | 'ARTIFACT_STORE_CAPTURE_CLOSED'
  /** A file is not what was just written to it. */
  | 'ARTIFACT_STORE_FILE_CHANGED'
  /** A limit of output that is no positive integer. */
  | 'ARTIFACT_STORE_LIMITS'
  /** Something that is no blob has the name of one: a folder, a link, a device. */
  | 'ARTIFACT_STORE_NO_BLOB'
  /** A blob was there one moment and gone the next, again and again. */
  | 'ARTIFACT_STORE_UNSTEADY'
  /** Logs cannot be searched for references. */
  | 'ARTIFACT_STORE_LOGS'
  /** The janitor holds the store for longer than a publication waits. */
  | 'ARTIFACT_STORE_BUSY';

export function storeError(
  code: ArtifactStoreErrorCode,
  message: string,
): AgentdError<ArtifactStoreErrorCode> {
  return new AgentdError(code, message);
}

/** Remembers the first storage fault of a call; from then on its output is not stored (OUT-13). */
export class FaultLatch {
  #reason: string | null = null;

  get reason(): string | null {
    return this.#reason;
  }

  get tripped(): boolean {
    return this.#reason !== null;
  }

  trip(fault: unknown): void {
    this.#reason ??= reasonOf(fault);
  }
}

/** What went wrong, in a few words and without paths: a model reads it. */
function reasonOf(fault: unknown): string {
  const message = messageOf(fault);
  // Node writes "ENOSPC: no space left on device, write '/path'".
  return codeOf(fault)?.startsWith('E') === true ? (message.split(', ')[0] ?? message) : message;
}
