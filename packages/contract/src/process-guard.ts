/**
 * Sees to it that a child process and what it started end with this process, however this one ends (also by SIGKILL).
 * Contract: `pid` is a child that leads a session of its own and was not waited for yet. Never rejects; where the system
 * offers no way, it does nothing. Call what it gives once all of the session has ended.
 */
export type ProcessGuard = (pid: number) => Promise<() => void>;
