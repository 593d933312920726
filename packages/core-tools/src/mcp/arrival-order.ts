import { resolve } from 'node:path';
import { isJsonObject, type PreparedCall, type PrepareContext, type Tool } from '@agentd/contract';
import { Lanes, type Place } from './lanes.ts';

/**
 * The same tools for calls that come one by one, without turns: a call that changes a file waits until those before it
 * are over, and is then prepared against what they left. So no call is `stale` because of another one of these tools.
 *   A1. From its preparation to its `dispose` a call is alone with its serialization key.
 *   A2. Changes of one file, under one name, take effect in the order in which they came.
 *   A3. Calls on other files, and those that change none, wait for nobody.
 *   A4. A call whose signal aborts stops waiting; one that fails lets the next one in.
 */
export function inArrivalOrder(tools: readonly Tool[]): readonly Tool[] {
  const lanes = new Lanes();
  return tools.map((tool) => ({
    spec: tool.spec,
    prepare: async (args, context, signal) => {
      const arrival = new Arrival(lanes, signal);
      try {
        await arrival.enterFile(fileOf(tool, args, context));
        return await arrival.prepared(() => tool.prepare(args, context, signal));
      } catch (thrown) {
        arrival.leave();
        throw thrown;
      }
    },
  }));
}

/** The file that a call would change, as far as its arguments tell; null for any other call. */
function fileOf({ spec }: Tool, args: unknown, { session }: PrepareContext): string | null {
  if (spec.action !== 'write' || !isJsonObject(args)) return null;
  const { filePath } = args;
  return typeof filePath === 'string' ? resolve(session.cwd, filePath) : null;
}

/** One call on its way to being alone with its file. It holds no key while it waits for one, so nothing can lock up. */
class Arrival {
  readonly #lanes: Lanes;
  readonly #signal: AbortSignal;
  #file: Place | null = null;
  #key: Place | null = null;

  constructor(lanes: Lanes, signal: AbortSignal) {
    this.#lanes = lanes;
    this.#signal = signal;
  }

  async enterFile(path: string | null): Promise<void> {
    if (path !== null) this.#file = await this.#lanes.enter(`file ${path}`, this.#signal);
  }

  /** Another name of the same file may be in use: then there is a second look, at what that use left. */
  async prepared(prepare: () => Promise<PreparedCall>): Promise<PreparedCall> {
    for (;;) {
      const call = await prepare();
      if (call.serializationKey === undefined || (await this.#isNext(call, call.serializationKey)))
        return { ...call, dispose: () => this.#end(call) };
      await call.dispose?.();
    }
  }

  leave(): void {
    this.#key?.leave();
    this.#file?.leave();
  }

  /** Whether nobody was before it with this key, so that what was prepared still stands. */
  async #isNext(call: PreparedCall, key: string): Promise<boolean> {
    if (this.#key?.name === key) return true;
    this.#key?.leave();
    this.#key = null;
    try {
      this.#key = await this.#lanes.enter(key, this.#signal);
    } catch (thrown) {
      await call.dispose?.();
      throw thrown;
    }
    return !this.#key.waited;
  }

  async #end(call: PreparedCall): Promise<void> {
    try {
      await call.dispose?.();
    } finally {
      this.leave();
    }
  }
}
