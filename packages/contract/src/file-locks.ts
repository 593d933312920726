/** A held lock. It dies with the process that holds it. */
export interface FileLock {
  readonly path: string;
  /** Idempotent. The file stays. */
  readonly release: () => Promise<void>;
}

/**
 * Locks of the operating system on whole files.
 * Contract: exclusive between processes and between two holders of one process; free as soon as the holder is
 * gone, however it ended; never waits.
 */
export interface FileLocks {
  /**
   * Creates the file (mode 0600, links not followed) where it is missing. Null when somebody else holds it.
   * `note` replaces the content once the lock is held, so that others can read who holds it.
   */
  readonly tryExclusive: (path: string, note?: string) => Promise<FileLock | null>;
}
