import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, type FileLock, type FileLocks, type Ids, type SessionId } from '@agentd/contract';
import { engineError } from '../errors.ts';
import type { EngineEvent, EnginePayload } from '../events.ts';
import type { FileEventLog } from './event-log.ts';
import { openLogFile, type LogFile } from './log-file.ts';
import type { SessionFolders, SessionPlace } from './session-folders.ts';
import { LOCK_NAME, type TreeHold, type TreeLocks } from './tree-locks.ts';

export interface CreationPorts {
  readonly folders: SessionFolders;
  readonly trees: TreeLocks;
  readonly ids: Ids;
  readonly locks: FileLocks;
  readonly logOf: (file: LogFile, sessionId: SessionId, lastSeq: number) => FileEventLog;
}

export interface CreatedSession {
  readonly first: EngineEvent;
  readonly log: FileEventLog;
  readonly hold: TreeHold;
}

/** A sweep by another process can take a folder away before its lock is held; it hardly can a second time. */
const ATTEMPTS = 3;

/**
 * Makes sessions. Each is built aside and gets its name last, by one rename: whatever breaks off in between, no
 * session is ever seen without its first event, and none without its owner's lock (SES-4).
 */
export class SessionCreation {
  readonly #ports: CreationPorts;

  constructor(ports: CreationPorts) {
    this.#ports = ports;
  }

  async root(sessionId: SessionId, first: EnginePayload): Promise<CreatedSession> {
    await this.#sweep();
    const { folders, ids, trees } = this.#ports;
    const place = folders.place(sessionId);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const staged = await folders.stage(place, `${sessionId}-${ids.hex(8)}`);
      const lock = await this.#lock(staged.folder);
      if (lock === null) continue;
      const hold = trees.adopt(sessionId, lock);
      return this.#build(sessionId, first, { staged, place, hold });
    }
    throw new Error(`session ${sessionId} could not be made: its folder was taken away ${ATTEMPTS} times`);
  }

  async child(sessionId: SessionId, rootId: SessionId, first: EnginePayload): Promise<CreatedSession> {
    const { folders, ids, trees } = this.#ports;
    if ((await folders.find(rootId))?.rootId !== rootId) {
      throw engineError('ENGINE_SESSION_NOT_FOUND', `there is no root session ${rootId}`);
    }
    const place = folders.place(sessionId, rootId);
    const hold = await trees.hold(rootId, place.rootFolder);
    const staged = await folders.stage(place, `${sessionId}-${ids.hex(8)}`).catch(async (error: unknown) => {
      await hold.release();
      throw error;
    });
    return this.#build(sessionId, first, { staged, place, hold });
  }

  async #build(
    sessionId: SessionId,
    payload: EnginePayload,
    { staged, place, hold }: { staged: SessionPlace; place: SessionPlace; hold: TreeHold },
  ): Promise<CreatedSession> {
    let log: FileEventLog | undefined;
    let lock: FileLock | null = null;
    try {
      lock = await this.#ports.locks.tryExclusive(staged.log);
      log = this.#ports.logOf(await openLogFile(staged.log, { lock }), sessionId, 0);
      const first = log.append(payload, null);
      await log.sync();
      await this.#ports.folders.publish(staged, place);
      return { first, log, hold };
    } catch (error) {
      // The first fault is the one to tell.
      await log?.close().catch(() => undefined);
      await lock?.release();
      await rm(staged.folder, { recursive: true, force: true });
      await hold.release();
      throw error;
    }
  }

  /** Null when a sweep was faster. */
  async #lock(folder: string): Promise<FileLock | null> {
    try {
      return await this.#ports.trees.take(join(folder, LOCK_NAME));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Removes what processes left that ended while they made a session. */
  async #sweep(): Promise<void> {
    for (const folder of await this.#ports.folders.staged()) {
      const lock = await this.#lock(folder);
      if (lock === null) continue;
      await rm(folder, { recursive: true, force: true });
      await lock.release();
    }
  }
}
