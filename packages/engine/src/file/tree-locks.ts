import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type FileLock, type FileLocks, type SessionId } from '@agentd/contract';
import { engineError } from '../errors.ts';

export const LOCK_NAME = 'owner.lock';

/** When this process began; it tells the reader of a note whether a pid is still the same process. */
const STARTED_AT = new Date(performance.timeOrigin).toISOString();

interface Tree {
  readonly lock: Promise<FileLock | null>;
  sessions: number;
}

/** A share in the lock of a session tree. */
export interface TreeHold {
  /** The last one lets the lock go. Idempotent. */
  readonly release: () => Promise<void>;
}

/** The trees that this process owns. One lock stands for all open sessions of a tree (SES-4). */
export class TreeLocks {
  readonly #locks: FileLocks;
  readonly #trees = new Map<SessionId, Tree>();

  constructor(locks: FileLocks) {
    this.#locks = locks;
  }

  /** Locks the tree whose root lies in `folder`. Throws `ENGINE_SESSION_LOCKED`, naming the holder. */
  async hold(rootId: SessionId, folder: string): Promise<TreeHold> {
    const path = join(folder, LOCK_NAME);
    const tree = this.#trees.get(rootId) ?? { lock: this.take(path), sessions: 0 };
    this.#trees.set(rootId, tree);
    tree.sessions += 1;
    const hold = this.#holdOf(rootId, tree);
    const lock = await tree.lock.catch(async (error: unknown) => {
      await hold.release();
      throw error;
    });
    if (lock !== null) return hold;
    await hold.release();
    throw await lockedBy(rootId, path);
  }

  /** Locks a tree that is just being made, before it has its place. */
  adopt(rootId: SessionId, lock: FileLock): TreeHold {
    const tree = { lock: Promise.resolve(lock), sessions: 1 };
    this.#trees.set(rootId, tree);
    return this.#holdOf(rootId, tree);
  }

  /** Null when somebody else holds it. */
  take(path: string): Promise<FileLock | null> {
    const note = { pid: process.pid, started_at: STARTED_AT, hostname: hostname() };
    return this.#locks.tryExclusive(path, `${JSON.stringify(note)}\n`);
  }

  #holdOf(rootId: SessionId, tree: Tree): TreeHold {
    let released: Promise<void> | undefined;
    const release = async (): Promise<void> => {
      tree.sessions -= 1;
      if (tree.sessions > 0) return;
      if (this.#trees.get(rootId) === tree) this.#trees.delete(rootId);
      const lock = await tree.lock.catch(() => null);
      await lock?.release();
    };
    return { release: () => (released ??= release()) };
  }
}

/** The error that tells who owns a tree. */
async function lockedBy(rootId: SessionId, path: string): Promise<Error> {
  const { pid, startedAt } = await holderOf(path);
  const holder =
    pid === null ? 'another process' : `process ${pid}, which began at ${startedAt ?? 'an unknown time'}`;
  return engineError(
    'ENGINE_SESSION_LOCKED',
    `session ${rootId} is in use by ${holder}; end it, or only read the session`,
    { details: { pid, startedAt } },
  );
}

/** The error for a session that this very process has open. */
export function openAlready(sessionId: SessionId): Error {
  return engineError(
    'ENGINE_SESSION_LOCKED',
    `session ${sessionId} is open already in this process (${process.pid}, which began at ${STARTED_AT})`,
    { details: { pid: process.pid, startedAt: STARTED_AT } },
  );
}

async function holderOf(path: string): Promise<{ pid: number | null; startedAt: string | null }> {
  // The holder may not have written its note yet.
  const note: unknown = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => null);
  if (!isJsonObject(note)) return { pid: null, startedAt: null };
  const { pid, started_at: startedAt } = note;
  return {
    pid: typeof pid === 'number' ? pid : null,
    startedAt: typeof startedAt === 'string' ? startedAt : null,
  };
}
