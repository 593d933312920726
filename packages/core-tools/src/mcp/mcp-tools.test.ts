import { describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { defineTool, type MediaGate } from '@agentd/contract';
import { z } from 'zod';
import { createCoreTools, type CoreToolPorts } from '../create-core-tools.ts';
import { scratchFolder } from '../testing/calls.ts';
import { mcpTools, type McpApproval, type McpToolOptions } from './mcp-tools.ts';

interface Setup extends Partial<Omit<McpToolOptions, 'cwd'>> {
  readonly ports?: Partial<CoreToolPorts>;
}

/** A server of the SDK with the tools, and a client of the SDK that is connected to it. */
async function setup({ ports = {}, ...options }: Setup = {}) {
  const folder = await scratchFolder();
  const { path } = folder;
  const asked: McpApproval[] = [];
  const approve: McpToolOptions['approve'] = async (approval) => {
    asked.push(approval);
    return true;
  };
  const coreTools = createCoreTools({ home: path, ...ports });
  const tools = mcpTools(coreTools, { cwd: path, approve, ...options });
  const server = new McpServer({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.server.setRequestHandler(ListToolsRequestSchema, tools.list);
  server.server.setRequestHandler(CallToolRequestSchema, tools.call);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  const call = async (
    name: string,
    args: Record<string, unknown>,
    more: { signal?: AbortSignal; onprogress?: (progress: Progress) => void } = {},
  ) => (await client.callTool({ name, arguments: args }, CallToolResultSchema, more)) as CallToolResult;
  const text = async (name: string, args: Record<string, unknown>) => {
    const { content, isError } = await call(name, args);
    const [first] = content;
    return `${isError === true ? 'failed: ' : ''}${first?.type === 'text' ? first.text : ''}`;
  };
  return {
    path,
    asked,
    client,
    coreTools,
    call,
    text,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Takes every file for what its name says. */
const gate: MediaGate = {
  admit: async ({ content, name }, signal) => {
    const bytes = 'read' in content ? await content.read(0, content.byteLength, signal) : content;
    const kind = name?.endsWith('png') === true ? 'image' : name?.endsWith('wav') === true ? 'audio' : 'pdf';
    const mime_type = { image: 'image/png', audio: 'audio/wav', pdf: 'application/pdf' }[kind];
    const record = { mime_type, byte_length: bytes.length, sha256: '', filename: name };
    return { kind, record, bytes, place: null };
  },
};

describe('mcpTools', () => {
  it('lists the five with their schemas, and hints that tell reading from changing', async () => {
    await using s = await setup();
    const { tools } = await s.client.listTools();
    expect(tools.map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual(
      s.coreTools.map(({ spec: { name, parameters } }) => ({ name, inputSchema: parameters })),
    );
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    expect(reading).toEqual(['read', 'webfetch']);
    expect(tools.every(({ description = '', title = '' }) => description !== '' && title !== '')).toBe(true);
  });

  it('work through a client: what a call did, the next one sees', async () => {
    await using s = await setup();
    expect(await s.text('write', { filePath: 'a/f', content: '1\n2\n' })).toBe('Created a/f (4 bytes).');
    expect(await s.text('edit', { filePath: 'a/f', oldString: '2', newString: 'two' })).toBe(
      'Edited a/f (line 2).',
    );
    expect(await s.text('read', { filePath: 'a/f', limit: 1 })).toMatch(
      /\n1: 1\n<\/content>\n\[next_offset: 1\]$/,
    );
    expect(await s.text('bash', { command: 'cat a/f; exit 3' })).toBe(
      '[stdout]\n1\ntwo\n\n[stderr]\nexit code: 3',
    );
  });

  it('run side by side, but one after the other on one file, in the order in which they came', async () => {
    await using s = await setup();
    await writeFile(join(s.path, 'f'), '0');
    const steps = Array.from({ length: 12 }, (_, n) => ({ oldString: `${n}`, newString: `${n + 1}` }));
    const together = ['a', 'b'].map((name) =>
      s.text('bash', { command: `touch ${name}; until [ -e a ] && [ -e b ]; do sleep 0.01; done` }),
    );
    const edits = steps.map((step) => s.text('edit', { filePath: 'f', ...step }));
    expect(new Set(await Promise.all(edits))).toEqual(new Set(['Edited f (line 1).']));
    expect(await s.text('read', { filePath: 'f' })).toContain('1: 12');
    expect(await Promise.all(together)).toEqual(Array(2).fill('[stdout]\n\n[stderr]\nexit code: 0'));
  });

  it('say as a result what is wrong with a call, for a model to repair it [ARG-3] [ERR-2]', async () => {
    await using s = await setup();
    expect(await s.text('read', { path: 'f' })).toMatch(/^failed: error: invalid_arguments: .*filePath/s);
    expect(await s.text('read', { filePath: 'f' })).toMatch(/^failed: error: not_found: /);
    expect(await s.text('raed', {})).toBe(
      'failed: error: not_published: there is no tool "raed" here; published are read, write, edit, bash, webfetch',
    );
    expect(await s.text('bash', { command: 'echo out; kill -9 $$' })).toMatch(
      /^failed: \[stdout\]\nout\n[^]*\nerror: signal: /,
    );
  });

  it('ask before every effect, and do nothing once refused', async () => {
    await using s = await setup();
    await s.text('bash', { command: 'true' });
    expect(s.asked).toMatchObject([{ tool: 'bash', action: 'bash', label: 'true' }]);
    await using denied = await setup({ approve: async () => false });
    expect(await denied.text('write', { filePath: 'f', content: 'x' })).toBe(
      'failed: error: permission_denied: write of f was refused',
    );
    expect(await denied.text('bash', { command: 'ls' })).toMatch(/^failed: /);
  });

  it('carry images and sound as such, other files as resources [FS-12]', async () => {
    await using s = await setup({ ports: { media: gate } });
    for (const name of ['a.png', 'b.wav', 'c d.pdf']) await writeFile(join(s.path, name), '\0x');
    const contents = await Promise.all(
      ['a.png', 'b.wav', 'c d.pdf'].map(async (filePath) => (await s.call('read', { filePath })).content[1]),
    );
    expect(contents).toMatchObject([
      { type: 'image', mimeType: 'image/png', data: 'AHg=' },
      { type: 'audio', mimeType: 'audio/wav', data: 'AHg=' },
      { type: 'resource', resource: { mimeType: 'application/pdf', blob: 'AHg=' } },
    ]);
  });

  it('tell how far a call is where the client asks for it', async () => {
    await using s = await setup();
    const { promise: heard, resolve } = Promise.withResolvers<Progress>();
    const command = 'echo compiling; until [ -e go ]; do sleep 0.01; done';
    const done = s.call('bash', { command }, { onprogress: resolve });
    expect(await heard).toEqual({ progress: 1, message: 'compiling' });
    await writeFile(join(s.path, 'go'), '');
    expect(await done).not.toHaveProperty('isError');
  });

  it('end with the request that asked for them', async () => {
    await using s = await setup();
    const abort = new AbortController();
    const onprogress = (): void => abort.abort();
    const command = 'echo $$ > pid; echo up; sleep 1000';
    await expect(s.call('bash', { command }, { signal: abort.signal, onprogress })).rejects.toThrow(/abort/i);
    // The next call waits for nobody, and sees the command go.
    const gone = 'until ! kill -0 $(cat pid) 2>&-; do sleep 0.01; done; echo gone';
    expect(await s.text('bash', { command: gone })).toContain('[stdout]\ngone\n');
  });

  it('refuse what no client keeps: a relative folder, a tool that must run alone', async () => {
    const approve = async (): Promise<boolean> => true;
    expect(() => mcpTools([], { cwd: 'here', approve })).toThrow(/must be absolute, not "here"/);
    const alone = defineTool({
      name: 'alone',
      description: 'd',
      schema: z.strictObject({}),
      action: 'plugin',
      prepare: async () => {
        throw new Error('not reached');
      },
    });
    expect(() => mcpTools([alone], { cwd: '/', approve })).toThrow(/alone must run alone/);
  });
});
