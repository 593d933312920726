import { constants } from 'node:fs';
import { open, statfs, type FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isSameFile, type FileIdentity } from '../target/identity.ts';
import { openTarget } from '../target/open-target.ts';
import type { KernelMoves } from './kernel-moves.ts';

/** Who publishes holds the lock for milliseconds; a stranger's own use of such a lock must not hold us for ever. */
const MAX_WAIT_MS = 2000;
const POLL_MS = 5;

/** SMB, by its names for statfs: there a lock keeps everybody from reading, our own checks of the file among them. */
const MANDATORY_LOCKS: ReadonlySet<number> = new Set([0xff53_4d42, 0xfe53_4d42, 0x517b]);

export interface LockedPlace {
  /** What is to be replaced. */
  readonly path: string;
  /** What must stand there. */
  readonly identity: FileIdentity;
  /** What will stand there. */
  readonly stage: string;
}

/**
 * Runs `publish` while nobody else who uses these tools, in this or another process, publishes over the same file, or
 * over the one that is to take its place. Without the first, two could exchange their stages at once and see each
 * other's as a stranger's change; without the second, an edit could build on content that is taken back a moment later.
 * The locks are the kernel's and end with the process. Where there are none, `publish` runs all the same: its own checks
 * stand. Throws `stale` when another file stands there.
 */
export async function publishAlone<T>(
  { path, identity, stage }: LockedPlace,
  { moves, signal }: { readonly moves: KernelMoves | null; readonly signal: AbortSignal },
  publish: () => Promise<T>,
): Promise<T> {
  if (moves === null || MANDATORY_LOCKS.has((await statfs(stage)).type)) return publish();
  // The stage is known to nobody yet, so its lock is free; and nobody waits for a file that is older than his own.
  await using own = await open(stage, constants.O_RDONLY | constants.O_NOFOLLOW);
  moves.lock(own.fd);
  await using old = await openTarget({ path }, (found) => isSameFile(found, identity));
  await waitForLock(old, moves, signal);
  return await publish();
}

async function waitForLock({ fd }: FileHandle, moves: KernelMoves, signal: AbortSignal): Promise<void> {
  const latest = performance.now() + MAX_WAIT_MS;
  while (moves.lock(fd) === 'held' && performance.now() < latest) await pause(POLL_MS, undefined, { signal });
}
