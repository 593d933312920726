import type { SessionListener } from '../session-journal.ts';

/** Who watches a tree. One that throws is cut off, and the others do not notice. */
export class Listeners {
  readonly #all = new Set<SessionListener>();

  /** Passes everything on. */
  readonly asListener: SessionListener = {
    event: (event) => this.#tell((listener) => listener.event?.(event)),
    live: (event, sessionId) => this.#tell((listener) => listener.live?.(event, sessionId)),
  };

  add(listener: SessionListener): void {
    this.#all.add(listener);
  }

  remove(listener: SessionListener): void {
    this.#all.delete(listener);
  }

  #tell(tell: (listener: SessionListener) => void): void {
    for (const listener of this.#all) {
      try {
        tell(listener);
      } catch {
        this.#all.delete(listener);
      }
    }
  }
}
