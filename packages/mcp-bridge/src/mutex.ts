import { unlessAborted } from './unless-aborted.ts';

/**
 * Lets one work at a time (MCP-2).
 *   X1. Works run one after the other, in the order they came.
 *   X2. Whoever gives up waiting leaves the queue at once, and delays nobody.
 */
export class Mutex {
  #tail: Promise<void> = Promise.resolve();

  async run<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const before = this.#tail;
    let release = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#tail = before.then(() => done);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      release();
    }
  }
}
