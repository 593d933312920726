import { describe, expect, it } from '@jest/globals';
import {
  toolError,
  type JsonObject,
  type JsonValue,
  type MediaGate,
  type ToolCompletion,
} from '@agentd/contract';
import { headGate, PNG_BASE64, textOf } from '../test/bridge-bench.ts';
import { mappedResult } from './map-result.ts';

const NEVER = new AbortController().signal;
const PDF = Buffer.from('%PDF-1.7 whole').toString('base64');
const origin = { server: 's', tool: 't' };

function map(result: JsonObject, gate: MediaGate | null = headGate()): Promise<ToolCompletion> {
  return mappedResult(result, { origin, gate, model: null }, NEVER);
}

const blocks = (...content: readonly JsonValue[]): JsonObject => ({ content });
const image = (data: string, mimeType: string | null = 'image/png'): JsonObject => ({
  type: 'image',
  data,
  ...(mimeType === null ? {} : { mimeType }),
});

describe('results of MCP tools', () => {
  it('keep all seven kinds of parts in their order [field H20] [MCP-5] [MED-8]', async () => {
    const result = await map({
      content: [
        { type: 'text', text: 'first' },
        image(PNG_BASE64),
        { type: 'audio', data: PNG_BASE64, mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'x://notes', text: 'a note' } },
        { type: 'resource', resource: { uri: 'x://paper.pdf', blob: PDF } },
        { type: 'resource_link', uri: 'file:///a.bin', name: 'a', mimeType: 'application/x', size: 1200 },
        { type: 'hologram', data: 'x' },
      ],
      structuredContent: { answer: 42 },
    });
    expect(textOf(result).split('\n')).toEqual([
      'first',
      '[image 2: attached image/png (68 bytes)]',
      '[audio 3: attached image/png (68 bytes)]',
      '[x://notes]',
      'a note',
      '[x://paper.pdf: attached application/pdf (14 bytes)]',
      '[MCP resource link: a (file:///a.bin); application/x; 1,200 bytes; read it with mcp_read_resource {"server":"s","uri":"file:///a.bin"}]',
      '[unsupported MCP content block: hologram]',
      '{"answer":42}',
    ]);
    expect(result.attachments?.map(({ record }) => [record.mime_type, record.filename])).toEqual([
      ['image/png', null],
      ['image/png', null],
      ['application/pdf', 'paper.pdf'],
    ]);
    expect(result.metadata).toEqual({
      mcp: { server: 's', tool: 't', is_error: false, structured_content: { answer: 42 } },
    });
    expect(result).not.toHaveProperty('error');
  });

  it.each<[string, JsonObject]>([
    ['an invented type', image(PNG_BASE64, 'application/png')],
    ['another type', image(PNG_BASE64, 'image/jpg')],
    ['no type', image(PNG_BASE64, null)],
    ['line breaks', image(PNG_BASE64.replaceAll(/.{20}/g, '$&\r\n'))],
    ['a blob without a type', { type: 'resource', resource: { uri: 'x://p', blob: PNG_BASE64 } }],
  ])('take the type of media from its bytes: %s [field H21] [MED-8]', async (_name, block) => {
    const result = await map(blocks(block));
    expect(result.attachments?.[0]?.record.mime_type).toBe('image/png');
    expect(result).not.toHaveProperty('error');
  });

  it.each<[string, JsonObject, string]>([
    ['no base64', image('not base64 !!'), 'image 2 holds no valid base64'],
    [
      'no media',
      image(Buffer.from('hello').toString('base64')),
      'image 2 declares image/png, but its bytes are no media',
    ],
  ])('fail for a block with %s and keep the rest [field H21] [MED-8]', async (_name, block, message) => {
    const result = await map(blocks({ type: 'text', text: 'kept' }, block, image(PNG_BASE64)));
    expect(result.error).toEqual({ code: 'media_invalid', message });
    expect(textOf(result)).toContain('kept');
    expect(result.attachments).toHaveLength(1);
  });

  it('fail with the error of the gate, and keep text, structure and what passed [MED-8] [field H20]', async () => {
    const gate = headGate((name) =>
      name === 'paper.pdf' ? toolError('media_undeliverable', 'no PDF there') : null,
    );
    const result = await map(
      {
        content: [
          { type: 'text', text: 'kept' },
          { type: 'resource', resource: { uri: 'x://paper.pdf', blob: PDF } },
          image(PNG_BASE64),
        ],
        structuredContent: { kept: true },
      },
      gate,
    );
    expect(result.error).toEqual({ code: 'media_undeliverable', message: 'x://paper.pdf: no PDF there' });
    expect(textOf(result)).toBe(
      'kept\n[x://paper.pdf: not attached]\n[image 3: attached image/png (68 bytes)]\n{"kept":true}',
    );
    expect(result.attachments).toHaveLength(1);
  });

  it('show text that comes as bytes, and name other bytes [MCP-5]', async () => {
    const blob = (bytes: Buffer, mimeType?: string): JsonValue => ({
      type: 'resource',
      resource: {
        uri: 'x://b',
        blob: bytes.toString('base64'),
        ...(mimeType === undefined ? {} : { mimeType }),
      },
    });
    expect(textOf(await map(blocks(blob(Buffer.from('grüße')))))).toBe('[x://b]\ngrüße');
    expect(textOf(await map(blocks(blob(Buffer.from([0, 255]), 'application/gzip'))))).toBe(
      '[x://b, application/gzip, 2 bytes: no kind of file that can be attached]',
    );
  });

  it.each<[string, JsonObject]>([
    [
      'a JSON copy',
      { content: [{ type: 'text', text: '{"b": 2, "a": [1]}' }], structuredContent: { a: [1], b: 2 } },
    ],
    ['a wrapped text', { content: [{ type: 'text', text: 'x\ny' }], structuredContent: { content: 'x\ny' } }],
    ['wrapped blocks', { content: [image(PNG_BASE64)], structuredContent: { content: [image(PNG_BASE64)] } }],
  ])('do not say twice what the blocks say: %s [MCP-5]', async (_name, result) => {
    const mapped = await map(result);
    expect(mapped.metadata).toEqual({ mcp: { ...origin, is_error: false } });
    expect(textOf(mapped).split('\n').length).toBeLessThanOrEqual(2);
  });

  it('never carry bytes in structured content, nor more of it than an event may [MCP-5]', async () => {
    const copy = await map({
      content: [image(PNG_BASE64)],
      structuredContent: { picture: PNG_BASE64, n: 1 },
    });
    expect(JSON.stringify([textOf(copy), copy.metadata])).not.toContain(PNG_BASE64);
    const large = await map({ content: [], structuredContent: { rows: 'x'.repeat(200_000) } });
    expect(large.metadata).toEqual({ mcp: { ...origin, is_error: false, structured_content_omitted: true } });
    let deep: JsonObject = {};
    for (let depth = 0; depth < 300; depth += 1) deep = { deep };
    expect(
      JSON.stringify((await map({ content: [], structuredContent: deep })).metadata).length,
    ).toBeLessThan(2000);
  });

  it('end failed where the server says so, with all of their content [MCP-5]', async () => {
    const result = await map({ content: [{ type: 'text', text: 'no such table' }], isError: true });
    expect(result.error).toEqual({
      code: 'mcp_error',
      message: 't of MCP server s reports an error; its result says what',
    });
    expect([textOf(result), result.metadata]).toEqual([
      'no such table',
      { mcp: { ...origin, is_error: true } },
    ]);
  });

  it.each<[JsonObject]>([
    [{}],
    [{ content: null }],
    [{ content: 'text' }],
    [blocks(null, 7, {}, { type: 5 })],
  ])('are something even of nonsense: %j [MCP-5] [MCP-7]', async (result) => {
    expect(textOf(await map(result))).toMatch(/^\[/);
  });

  it('have notes in place of files where nobody takes any [MED-8]', async () => {
    const result = await map(blocks(image(PNG_BASE64)), null);
    expect(textOf(result)).toBe('[image 1, image/png, 68 bytes: files are not delivered here]');
    expect(result).not.toHaveProperty('attachments');
  });
});
