import type { EditChain } from './mutate/edit-chain.ts';
import { isSameFile, type FileIdentity } from './target/identity.ts';

/** What the calls of one model turn have done to files, by real path (FS-15). */
export class TurnFiles {
  readonly #published = new Map<string, FileIdentity[]>();
  /** What the `edit`s of the turn have made of a file so far. */
  readonly edits = new Map<string, EditChain>();

  /** Call it before the file is put in place: a sibling `read` that finds it there must find it here. */
  announce(path: string, identity: FileIdentity): void {
    const known = this.#published.get(path);
    if (known === undefined) this.#published.set(path, [identity]);
    else known.push(identity);
  }

  hasPublished(path: string, identity: FileIdentity): boolean {
    return this.#published.get(path)?.some((known) => isSameFile(known, identity)) ?? false;
  }
}

// Keyed by the engine's object for the turn: nothing here outlives a turn, and tools that were made one by one agree
// without being introduced to each other.
const turns = new WeakMap<object, TurnFiles>();

export function turnFilesOf(turn: object): TurnFiles {
  const known = turns.get(turn);
  if (known !== undefined) return known;
  const fresh = new TurnFiles();
  turns.set(turn, fresh);
  return fresh;
}
