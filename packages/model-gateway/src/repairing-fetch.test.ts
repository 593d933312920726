import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '@agentd/contract';
import { lineRepair } from './wire/repairing-fetch.ts';

const upper = () => (event: JsonObject) =>
  typeof event['fix'] === 'string' ? { ...event, fix: event['fix'].toUpperCase() } : undefined;

/** What comes out when the bytes go in as these pieces, and the sizes of what comes out. */
async function through(pieces: readonly Uint8Array[]) {
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const out: Buffer[] = [];
  for await (const piece of source.pipeThrough(lineRepair({ marker: '"fix"', repair: upper }))) {
    out.push(Buffer.from(piece));
  }
  return { text: Buffer.concat(out).toString('utf8'), pieces: out };
}

describe('the repair of a stream', () => {
  it('mends marked events and leaves every other byte as it is', async () => {
    const text = [
      ': a comment\r\n',
      'event: x\n',
      'data: {"fix":"é😀"}\n\n',
      'data: {"other":"fix"}\r\n\r\n',
      'data:{"fix":"b"}\r\n\n',
      'data: {"fix": not json\n\n',
      'data: ["fix"]\n',
      'data: [DONE]\n\n',
      'data: {"fix":"no line end"}',
    ].join('');
    const { text: mended } = await through([Buffer.from(text)]);
    expect(mended).toBe(
      text
        .replace('data: {"fix":"é😀"}\n', 'data: {"fix":"É😀"}\n')
        .replace('data:{"fix":"b"}\r\n', 'data: {"fix":"B"}\n')
        .replace('data: {"fix":"no line end"}', 'data: {"fix":"NO LINE END"}\n'),
    );
  });

  it('does the same wherever the bytes are split', async () => {
    const bytes = Buffer.from('event: x\ndata: {"fix":"é😀 ü"}\n\ndata: {"a":"—"}\n\n: end\n');
    const { text: whole } = await through([bytes]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 8 }),
        async (cuts) => {
          const places = [...new Set([0, ...cuts, bytes.length])].toSorted((a, b) => a - b);
          const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
          expect((await through(pieces)).text).toBe(whole);
        },
      ),
    );
  });

  it('holds no line without end back: beyond its bound the bytes pass as they are', async () => {
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    const start = Buffer.from('data: {"fix":"');
    const { text, pieces } = await through([
      start,
      ...Array.from({ length: 10 }, () => piece),
      Buffer.from('"}\n'),
    ]);
    expect(text).toBe(`data: {"fix":"${'a'.repeat(10 * piece.length)}"}\n`);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(6 * piece.length);
  });
});
