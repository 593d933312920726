import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OutputChunk } from '@agentd/contract';
import { DeltaQueue } from './delta-queue.ts';

const bytesOf = (chunks: readonly OutputChunk[]): number =>
  chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

function drain(queue: DeltaQueue): readonly (readonly OutputChunk[])[] {
  const deltas: (readonly OutputChunk[])[] = [];
  for (let delta = queue.take(); delta.length > 0; delta = queue.take()) deltas.push(delta);
  return deltas;
}

const textOf = (deltas: readonly (readonly OutputChunk[])[], name: string): string =>
  deltas.flatMap((delta) => delta.filter(({ stream }) => stream === name).map(({ text }) => text)).join('');

describe('DeltaQueue', () => {
  it('hands out everything in order, within 8 chunks and 64 KiB a delta [OUT-8] [OUT-14]', () => {
    const piece = fc.record({
      stream: fc.constantFrom('stdout', 'stderr'),
      text: fc
        .tuple(fc.constantFrom('a', '\u00E9', '\u20AC', '\u{1F600}', '\uFFFD'), fc.nat(70_000))
        .map(([unit, length]) => unit.repeat(length)),
    });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const queue = new DeltaQueue();
        for (const { stream, text } of pieces) queue.push(stream, text);
        expect(queue.bytes).toBe(bytesOf(pieces));
        const deltas = drain(queue);
        expect(queue.bytes).toBe(0);
        for (const name of ['stdout', 'stderr']) {
          // Not toBe: a failure would print megabytes.
          expect(textOf(deltas, name) === textOf([pieces], name)).toBe(true);
        }
        for (const delta of deltas) {
          expect(delta.length).toBeLessThanOrEqual(8);
          expect(bytesOf(delta)).toBeLessThanOrEqual(65_536);
          expect(delta.every(({ text }) => text.isWellFormed() && text !== '')).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('fills a delta to the last byte before it begins another [OUT-8]', () => {
    const queue = new DeltaQueue();
    for (let count = 0; count < 65_536; count += 1) queue.push('stdout', 'x');
    queue.push('stderr', 'y');
    expect(drain(queue).map((delta) => delta.map(({ stream, text }) => [stream, text.length]))).toEqual([
      [['stdout', 65_536]],
      [['stderr', 1]],
    ]);
  });

  it('keeps the order in which two streams take turns [OUT-8]', () => {
    const queue = new DeltaQueue();
    for (let count = 0; count < 5; count += 1) {
      queue.push('stdout', `o${count}`);
      queue.push('stderr', `e${count}`);
    }
    const deltas = drain(queue);
    expect(deltas.map((delta) => delta.length)).toEqual([8, 2]);
    expect(
      deltas
        .flat()
        .map(({ text }) => text)
        .join(' '),
    ).toBe('o0 e0 o1 e1 o2 e2 o3 e3 o4 e4');
  });
});
