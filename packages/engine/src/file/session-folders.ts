import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, isUuid, type SessionId } from '@agentd/contract';

/** Where one session lies. */
export interface SessionPlace {
  readonly rootId: SessionId;
  /** Folder of the root: its lock stands for the tree. */
  readonly rootFolder: string;
  readonly folder: string;
  readonly log: string;
}

const LOG_NAME = 'events.jsonl';
const CHILDREN = 'subagents';
/** Sessions that are being made. What lies there without an owner was left by a crash. */
const CREATING = '.creating';

/** The layout of sessions on disk: `<root id>/…` and `<root id>/subagents/<id>/…`. */
export class SessionFolders {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  place(sessionId: SessionId, rootId: SessionId = sessionId): SessionPlace {
    const rootFolder = join(this.#folder, rootId);
    const folder = sessionId === rootId ? rootFolder : join(rootFolder, CHILDREN, sessionId);
    return { rootId, rootFolder, folder, log: join(folder, LOG_NAME) };
  }

  /** Where the session lies, or null. An id that is no UUID names none, so that no id leads out of the folder. */
  async find(sessionId: SessionId): Promise<SessionPlace | null> {
    if (!isUuid(sessionId)) return null;
    const root = this.place(sessionId);
    if (await exists(root.folder)) return root;
    for (const rootId of await this.roots()) {
      const child = this.place(sessionId, rootId);
      if (await exists(child.folder)) return child;
    }
    return null;
  }

  async roots(): Promise<readonly SessionId[]> {
    return (await namesIn(this.#folder)).filter(isUuid);
  }

  /** Subagents of a tree. */
  async children(rootId: SessionId): Promise<readonly SessionId[]> {
    if (!isUuid(rootId)) return [];
    return (await namesIn(join(this.place(rootId).folder, CHILDREN))).filter(isUuid);
  }

  /** A folder to build a session in: a root beside the others, a child inside its tree, which is locked by then. */
  async stage({ rootFolder, folder }: SessionPlace, name: string): Promise<SessionPlace> {
    const above = join(folder === rootFolder ? this.#folder : rootFolder, CREATING);
    await mkdir(above, { recursive: folder === rootFolder, mode: 0o700 }).catch(ignoreExisting);
    const staged = join(above, name);
    await mkdir(staged, { mode: 0o700 });
    return { rootId: name, rootFolder: staged, folder: staged, log: join(staged, LOG_NAME) };
  }

  /** Gives a staged session its place, durably. */
  async publish(staged: SessionPlace, place: SessionPlace): Promise<void> {
    const parent = dirname(place.folder);
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await syncFolder(staged.folder);
    await rename(staged.folder, place.folder);
    await syncFolder(parent);
    if (place.folder !== place.rootFolder) await syncFolder(place.rootFolder);
  }

  /** Removes what a crash left of subagents that were being made. For the owner of the tree, before it makes any. */
  async sweepTree({ rootFolder }: SessionPlace): Promise<void> {
    await rm(join(rootFolder, CREATING), { recursive: true, force: true });
  }

  /** Folders of roots that are being made, or were when their process ended. */
  async staged(): Promise<readonly string[]> {
    const above = join(this.#folder, CREATING);
    return (await namesIn(above)).map((name) => join(above, name));
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
