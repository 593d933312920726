import { describe, expect, it } from '@jest/globals';
import { flush } from '@agentd/contract/testing';
import fc from 'fast-check';
import { KeyLock, type Unlock } from './key-lock.ts';

const never = new AbortController().signal;

/** Queues by key; whoever stands at the head holds it. */
class LockModel {
  readonly #queues = new Map<string, number[]>();

  ask(key: string, id: number): void {
    this.#queues.set(key, [...(this.#queues.get(key) ?? []), id]);
  }

  unlock(id: number): void {
    for (const queue of this.#queues.values()) if (queue[0] === id) queue.shift();
  }

  abort(id: number): void {
    for (const queue of this.#queues.values()) if (queue.indexOf(id) > 0) queue.splice(queue.indexOf(id), 1);
  }

  holders(): readonly number[] {
    return [...this.#queues.values()].flatMap((queue) => queue.slice(0, 1));
  }
}

describe('KeyLock', () => {
  it('makes equal keys wait and lets others pass [SCH-4]', async () => {
    const lock = new KeyLock();
    const order: string[] = [];
    const take = async (key: string, name: string): Promise<Unlock> => {
      const unlock = await lock.acquire(key, never);
      order.push(name);
      return unlock;
    };
    const first = take('a', 'a1');
    const second = take('a', 'a2');
    await take('b', 'b1');
    expect(order).toEqual(['a1', 'b1']);
    const unlock = await first;
    unlock();
    unlock();
    const third = take('a', 'a3');
    await second;
    await flush();
    expect(order).toEqual(['a1', 'b1', 'a2']);
    (await second)();
    await third;
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('rejects at once where the signal is aborted, and takes nothing [SCH-10]', async () => {
    const lock = new KeyLock();
    await expect(lock.acquire('a', AbortSignal.abort('why'))).rejects.toBe('why');
    await expect(lock.acquire('a', never)).resolves.toBeInstanceOf(Function);
  });

  it('has one holder a key, in the order of asking, whatever leaves the queue [SCH-4] [SCH-10]', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('ask' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ kind: fc.constantFrom('unlock' as const, 'abort' as const), pick: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const lock = new KeyLock();
        const model = new LockModel();
        const aborts: AbortController[] = [];
        const held = new Map<number, Unlock>();
        for (const next of steps) {
          if (next.kind === 'ask') {
            const id = aborts.push(new AbortController()) - 1;
            model.ask(next.key, id);
            const place = lock.acquire(next.key, aborts[id]!.signal);
            place.then(
              (unlock) => held.set(id, unlock),
              () => undefined,
            );
          } else if (next.kind === 'unlock' && held.size > 0) {
            const [id, unlock] = [...held][next.pick % held.size]!;
            held.delete(id);
            unlock();
            model.unlock(id);
          } else if (next.kind === 'abort' && aborts.length > 0) {
            const id = next.pick % aborts.length;
            aborts[id]!.abort();
            model.abort(id);
          }
          await flush();
          expect(new Set(held.keys())).toEqual(new Set(model.holders()));
        }
      }),
      { numRuns: 150 },
    );
  });
});
