import { describe, expect, it } from '@jest/globals';
import { flush } from '@agentd/contract/testing';
import type { Tool } from '@agentd/contract';
import { contextIn } from '../testing/calls.ts';
import { inArrivalOrder } from './arrival-order.ts';

const NEVER = new AbortController().signal;

/** A tool whose calls name their own file and key; `log` has what happened. */
function setup() {
  const log: string[] = [];
  const tool: Tool = {
    spec: {
      name: 't',
      description: 'd',
      parameters: {},
      action: 'write',
      concurrency: 'parallel',
      output: { kind: 'single' },
      truncation: 'bounded',
      origin: 'builtin',
    },
    prepare: async (args) => {
      const { id, key } = args as { id: string; key?: string };
      if (id === 'bad') throw new Error('gone');
      log.push(`prepare ${id}`);
      return {
        permission: { action: 'write', label: 'f' },
        operation: {},
        ...(key === undefined ? {} : { serializationKey: key }),
        execute: async () => ({ output: { kind: 'single', text: id } }),
        dispose: async () => void log.push(`dispose ${id}`),
      };
    },
  };
  const [ordered] = inArrivalOrder([tool]);
  const prepare = (id: string, target: { filePath?: string; key?: string }, signal = NEVER) =>
    ordered!.prepare({ id, ...target }, contextIn('/'), signal);
  return { log, prepare };
}

describe('inArrivalOrder', () => {
  it('A2 prepares a change once those of the same file before it are over, in their order', async () => {
    const { log, prepare } = setup();
    const target = { filePath: '/f', key: 'k' };
    const first = await prepare('1', target);
    const later = ['2', '3'].map(async (id) =>
      (await prepare(id, { ...target, filePath: '/x/../f' })).dispose?.(),
    );
    await flush();
    expect(log).toEqual(['prepare 1']);
    await first.dispose?.();
    await Promise.all(later);
    expect(log.join(', ')).toBe('prepare 1, dispose 1, prepare 2, dispose 2, prepare 3, dispose 3');
  });

  it('A1 holds for two names of one file, too', async () => {
    const { log, prepare } = setup();
    const first = await prepare('1', { filePath: '/f', key: 'k' });
    const alias = prepare('2', { filePath: '/g', key: 'k' });
    await flush();
    await first.dispose?.();
    await (await alias).dispose?.();
    expect(log.join(', ')).toBe('prepare 1, prepare 2, dispose 1, dispose 2, prepare 2, dispose 2');
  });

  it('A3 lets all others pass', async () => {
    const { prepare } = setup();
    await prepare('1', { filePath: '/f', key: 'k' });
    await prepare('2', { filePath: '/g', key: 'l' });
    await prepare('3', {});
  });

  it('A4 lets a call go that is cancelled while it waits, and frees what it held', async () => {
    const { prepare } = setup();
    const target = { filePath: '/f', key: 'k' };
    const first = await prepare('1', target);
    const abort = new AbortController();
    const second = prepare('2', target, abort.signal);
    const third = prepare('3', target);
    await flush();
    abort.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await first.dispose?.();
    await (await third).dispose?.();
    await (await prepare('4', target)).dispose?.();
  });

  it('A4 lets the next one in when a call cannot be prepared', async () => {
    const { log, prepare } = setup();
    const target = { filePath: '/f', key: 'k' };
    const first = await prepare('1', target);
    const second = prepare('bad', target);
    const third = prepare('3', target);
    await flush();
    await first.dispose?.();
    await expect(second).rejects.toThrow('gone');
    await (await third).dispose?.();
    expect(log.at(-1)).toBe('dispose 3');
  });
});
