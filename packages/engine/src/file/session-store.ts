import { stat } from 'node:fs/promises';
import {
  isAgentdError,
  isUuid,
  messageOf,
  type Clock,
  type EventEnvelope,
  type FileLocks,
  type Ids,
  type SessionId,
} from '@agentd/contract';
import { engineError } from '../errors.ts';
import type { EnginePayload } from '../events.ts';
import type { LogContent, OwnedSession, SessionListing, SessionStore } from '../ports.ts';
import { FileEventLog } from './event-log.ts';
import { openLogFile, type LogFile } from './log-file.ts';
import { lockLog } from './log-lock.ts';
import { damageOf, readLog } from './read-log.ts';
import { SessionCreation } from './session-creation.ts';
import { SessionFolders, type SessionPlace } from './session-folders.ts';
import { openAlready, TreeLocks, type TreeHold } from './tree-locks.ts';

export interface FileSessionStoreInit {
  /** Made, 0700, when the first session is created. */
  readonly folder: string;
  readonly locks: FileLocks;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly engineVersion: string;
}

/** Keeps sessions as `<root id>/events.jsonl`, and those of subagents below their root (SES-1). */
export function fileSessionStore(init: FileSessionStoreInit): SessionStore {
  const store = new FileSessionStore(init);
  return {
    create: (id, first) => explained(`session ${id} cannot be made`, store.create(id, first)),
    open: (id) => explained(`session ${id} cannot be opened`, store.open(id)),
    read: (id) => explained(`session ${id} cannot be read`, store.read(id)),
    list: () => explained('the sessions cannot be listed', store.list()),
    rootOf: (id) => explained(`session ${id} cannot be looked for`, store.rootOf(id)),
    children: (id) => explained(`the subagents of ${id} cannot be listed`, store.children(id)),
  };
}

/** What the disk says tells a user too little without what was asked of it. */
async function explained<Value>(what: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (isAgentdError(error)) throw error;
    throw engineError('ENGINE_STORE_FAILED', `${what}: ${messageOf(error)}`, { cause: error });
  }
}

/** So many sessions are looked at together. */
const LISTED_TOGETHER = 16;

class FileSessionStore {
  readonly #init: FileSessionStoreInit;
  readonly #folders: SessionFolders;
  readonly #trees: TreeLocks;
  readonly #creation: SessionCreation;
  /** Sessions that this process has open: each has one writer. */
  readonly #open = new Set<SessionId>();

  constructor(init: FileSessionStoreInit) {
    this.#init = init;
    this.#folders = new SessionFolders(init.folder);
    this.#trees = new TreeLocks(init.locks);
    this.#creation = new SessionCreation({
      folders: this.#folders,
      trees: this.#trees,
      ids: init.ids,
      locks: init.locks,
      logOf: (file, sessionId, lastSeq) => this.#logOf(file, sessionId, lastSeq),
    });
  }

  async create(sessionId: SessionId, first: EnginePayload): Promise<OwnedSession> {
    if (!isUuid(sessionId)) throw new Error(`${sessionId} is no session id`);
    const rootId = (first.type === 'session_created' ? first.origin?.root_id : undefined) ?? sessionId;
    return this.#claim(sessionId, async () => {
      const created =
        rootId === sessionId
          ? await this.#creation.root(sessionId, first)
          : await this.#creation.child(sessionId, rootId, first);
      return this.#owned({ events: [created.first as EventEnvelope], diagnostics: [] }, created);
    });
  }

  async open(sessionId: SessionId): Promise<OwnedSession> {
    const place = await this.#find(sessionId);
    return this.#claim(sessionId, async () => {
      const hold = await this.#trees.hold(place.rootId, place.rootFolder);
      try {
        if (sessionId === place.rootId) await this.#folders.sweepTree(place);
        return await this.#openLocked(place, sessionId, hold);
      } catch (error) {
        await hold.release();
        throw error;
      }
    });
  }

  async read(sessionId: SessionId): Promise<LogContent> {
    const { log } = await this.#find(sessionId);
    const { events, diagnostics } = await readLog(log, sessionId);
    return { events, diagnostics };
  }

  async list(): Promise<readonly SessionListing[]> {
    const ids = await this.#folders.roots();
    const rows: SessionListing[] = [];
    for (let start = 0; start < ids.length; start += LISTED_TOGETHER) {
      const some = ids.slice(start, start + LISTED_TOGETHER);
      rows.push(...(await Promise.all(some.map((id) => this.#listing(id)))));
    }
    return rows.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.sessionId < b.sessionId ? -1 : 1));
  }

  async rootOf(sessionId: SessionId): Promise<SessionId> {
    return (await this.#find(sessionId)).rootId;
  }

  children(rootId: SessionId): Promise<readonly SessionId[]> {
    return this.#folders.children(rootId);
  }

  async #listing(sessionId: SessionId): Promise<SessionListing> {
    const { log, folder } = this.#folders.place(sessionId);
    const info = await stat(log).catch(() => stat(folder).catch(() => null));
    return { sessionId, updatedAt: info?.mtimeMs ?? 0, damaged: await damageOf(log) };
  }

  async #find(sessionId: SessionId): Promise<SessionPlace> {
    const place = await this.#folders.find(sessionId);
    if (place !== null) return place;
    throw engineError('ENGINE_SESSION_NOT_FOUND', `there is no session ${JSON.stringify(sessionId)}`);
  }

  async #openLocked(place: SessionPlace, sessionId: SessionId, hold: TreeHold): Promise<OwnedSession> {
    const lock = await lockLog(this.#init.locks, place.log, sessionId);
    try {
      const { events, diagnostics, tail, lastSeq } = await readLog(place.log, sessionId);
      const log = this.#logOf(await openLogFile(place.log, { tail, lock }), sessionId, lastSeq);
      return this.#owned({ events, diagnostics }, { log, hold });
    } catch (error) {
      await lock?.release();
      throw error;
    }
  }

  /** Sees to it that one process opens a session once. */
  async #claim(sessionId: SessionId, make: () => Promise<OwnedSession>): Promise<OwnedSession> {
    if (this.#open.has(sessionId)) throw openAlready(sessionId);
    this.#open.add(sessionId);
    try {
      const owned = await make();
      const release = async (): Promise<void> => {
        try {
          await owned.release();
        } finally {
          this.#open.delete(sessionId);
        }
      };
      let released: Promise<void> | undefined;
      return { ...owned, release: () => (released ??= release()) };
    } catch (error) {
      this.#open.delete(sessionId);
      throw error;
    }
  }

  #owned(content: LogContent, { log, hold }: { log: FileEventLog; hold: TreeHold }): OwnedSession {
    const release = async (): Promise<void> => {
      try {
        await log.close();
      } finally {
        await hold.release();
      }
    };
    return { ...content, log, release };
  }

  #logOf(file: LogFile, sessionId: SessionId, lastSeq: number): FileEventLog {
    const { clock, engineVersion } = this.#init;
    return new FileEventLog({ file, sessionId, clock, engineVersion, lastSeq });
  }
}
