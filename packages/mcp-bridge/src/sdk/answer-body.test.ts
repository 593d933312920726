import { describe, expect, it } from '@jest/globals';
import { watchedBody, type AnswerTerms } from './answer-body.ts';

const MIB = 1024 * 1024;

async function read(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  terms: AnswerTerms,
): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of watchedBody(ReadableStream.from(chunks), terms)) parts.push(part);
  return Buffer.concat(parts).toString();
}

const bytes = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const events = { id: 7, isEventStream: true, maxBytes: MIB } as const;
const closed =
  'event: message\ndata: {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"Connection closed"}}\n\n';

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(64 * 1024, 'x');
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('data: {"half');
  throw new Error('reset by peer');
}

describe('the body of an answer', () => {
  it('passes unchanged, and a stream of events ends with an error for who still waits [field H22]', async () => {
    expect(await read(bytes('{"a":', '1}'), { ...events, isEventStream: false })).toBe('{"a":1}');
    expect(await read(bytes('data: 1\n\n'), events)).toBe(`data: 1\n\n\n\n${closed}`);
  });

  it('ends with that error where it breaks off [field H22]', async () => {
    expect(await read(broken(), events)).toBe(`data: {"half\n\n${closed}`);
  });

  it('is left to the SDK where the server numbers its events [MCP-4]', async () => {
    expect(await read(bytes('id: 1\ndata: \n\n'), events)).toBe('id: 1\ndata: \n\n');
  });

  it('is bounded, however much a server sends [MCP-4]', async () => {
    await expect(read(endless(), { ...events, isEventStream: false })).rejects.toMatchObject({
      code: 'MCP_OVERSIZED',
    });
    const text = await read(endless(), events);
    expect(text.length).toBeLessThan(2 * MIB);
    expect(text.slice(-200)).toContain('the answer is larger than 1 MiB');
  });

  it('may be endless as long as its events are not [MCP-4]', async () => {
    const many = Array.from({ length: 40 }, () => Buffer.from(`data: ${'x'.repeat(64 * 1024)}\n\n`));
    expect((await read(many, events)).length).toBeGreaterThan(2 * MIB);
  });

  it('counts each event alone, whichever way its lines end [field H22]', async () => {
    const event = `data: ${'x'.repeat(MIB / 2)}`;
    for (const end of ['\n\n', '\r\n\r\n']) {
      const many = await read(bytes(...Array.from({ length: 4 }, () => `${event}${end}`)), events);
      expect(many).toContain('Connection closed');
      expect(many.length).toBeGreaterThan(2 * MIB);
    }
  });

  it('just ends where it answers nothing [field H22]', async () => {
    const stream = { ...events, id: null };
    expect(await read(bytes('data: 1\n\n'), stream)).toBe('data: 1\n\n');
    expect((await read(endless(), stream)).length).toBeLessThanOrEqual(MIB);
    await expect(read(broken(), stream)).rejects.toThrow('reset by peer');
  });
});
