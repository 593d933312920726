import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { deferred, flush } from '@agentd/contract/testing';
import { systemClock } from '@agentd/contract';
import type { ToolProgress } from '@agentd/contract';
import fc from 'fast-check';
import { OutputPump } from './output-pump.ts';

/** `bytes` in pieces that end at `cuts`. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

async function pumped(parts: readonly Uint8Array[]): Promise<string> {
  let text = '';
  const report = async ({ chunks = [] }: ToolProgress): Promise<void> => {
    for (const chunk of chunks) text += chunk.text;
  };
  const source = Readable.from(parts, { objectMode: false });
  const pump = new OutputPump({ stdout: source }, { report, clock: systemClock });
  await pump.closed;
  await pump.finish();
  return text;
}

describe('OutputPump', () => {
  it('decodes any bytes, cut anywhere, as if they had come at once [BASH-8] [OUT-14]', async () => {
    const character = fc
      .constantFrom('a', '\0', '\uFEFF', '\u00E9', '\u20AC', '\u{1F600}')
      .map((c) => Buffer.from(c));
    const noise = fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes));
    const text = fc.array(fc.oneof(character, noise), { maxLength: 30 }).map((parts) => Buffer.concat(parts));
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(text, cuts, async (bytes, at) => {
        const expected = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        expect(await pumped(pieces(bytes, at))).toBe(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('stops reading while a report waits, and goes on after it [OUT-12] [BASH-9]', async () => {
    const gate = deferred();
    const source = new PassThrough({ highWaterMark: 1 });
    const seen: number[] = [];
    const report = async ({ chunks = [] }: ToolProgress): Promise<void> => {
      seen.push(chunks.reduce((sum, { text }) => sum + text.length, 0));
      await gate.promise;
    };
    const pump = new OutputPump({ stdout: source }, { report, clock: systemClock });
    let writes = 0;
    while (source.writableLength < 64 * 1024 && writes < 100) {
      source.write(Buffer.alloc(32 * 1024, 'x'));
      writes += 1;
      await flush();
    }
    // 256 KiB that wait, one delta that is under way, and what the stream itself holds.
    expect(writes * 32).toBeLessThanOrEqual(256 + 64 + 4 * 32);
    expect(seen).toHaveLength(1);
    source.end();
    gate.resolve();
    await pump.closed;
    await pump.finish();
    expect(seen.reduce((sum, length) => sum + length, 0)).toBe(writes * 32 * 1024);
  });

  it('ends a stream after the bytes that it may still bring [BASH-7]', async () => {
    const texts: string[] = [];
    const source = new PassThrough();
    const report = async ({ chunks = [] }: ToolProgress): Promise<void> => {
      texts.push(...chunks.map(({ text }) => text));
    };
    const pump = new OutputPump({ stdout: source }, { report, clock: systemClock });
    source.write('abc');
    await flush();
    pump.readAtMost(5);
    source.write('defg');
    source.write('hijk');
    await pump.closed;
    await pump.finish();
    expect(texts.join('')).toBe('abcdefgh');
  });

  it('gives back what the runtime threw, once, and reads no more [OUT-8]', async () => {
    const source = new PassThrough();
    const refusal = { code: 'resource_limit' };
    const report = async (): Promise<void> => {
      throw refusal;
    };
    const pump = new OutputPump({ stdout: source }, { report, clock: systemClock });
    source.write('abc');
    await pump.refused;
    await expect(pump.finish()).rejects.toBe(refusal);
    expect(source.destroyed).toBe(true);
  });
});
