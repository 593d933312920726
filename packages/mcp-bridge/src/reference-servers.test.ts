import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject, type Tool } from '@agentd/contract';
import type { ServerSettings } from './settings.ts';
import {
  bridgeBench,
  headGate,
  httpServer,
  PNG_BASE64,
  programServer,
  scratchFolder,
  textOf,
  type BridgeBench,
} from './test/bridge-bench.ts';

// Real processes, on a machine that may have others.
jest.setTimeout(120_000);

const program = (name: string): string =>
  fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`));

/** A port that was free a moment ago: the server takes its port from the environment and tells no other. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The everything server behind Streamable HTTP. */
async function everythingOverHttp(): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  for (;;) {
    const port = await freePort();
    const child = spawn(process.execPath, [program('everything'), 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let isUp = false;
    for await (const chunk of child.stderr) {
      isUp = String(chunk).includes('listening');
      if (isUp) break;
    }
    child.stderr.destroy();
    // Somebody else may have taken the port meanwhile: then with another one.
    if (isUp) return { url: `http://127.0.0.1:${port}/mcp`, process: child };
    child.kill('SIGKILL');
  }
}

/** Every schema keyword that occurs anywhere, so that ARG-4 can be checked at one look. */
function keywordsOf(schema: JsonObject): readonly string[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'properties' && isJsonObject(value)) {
      return [key, ...Object.values(value).flatMap((child) => keywordsOf(child as JsonObject))];
    }
    return key === 'items' && isJsonObject(value) ? [key, ...keywordsOf(value)] : [key];
  });
}

const PORTABLE =
  /^(?:type|properties|required|additionalProperties|items|enum|description|default|minimum|maximum|minLength)$/;

function expectPortable(tools: readonly Tool[]): void {
  for (const { spec } of tools) {
    expect(spec.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(spec).toMatchObject({ action: 'mcp', origin: 'mcp', truncation: 'bounded' });
    expect(keywordsOf(spec.parameters).filter((keyword) => !PORTABLE.test(keyword))).toEqual([]);
  }
}

describe('the reference servers', () => {
  let web: Awaited<ReturnType<typeof everythingOverHttp>>;

  beforeAll(async () => {
    web = await everythingOverHttp();
  });

  afterAll(() => {
    web.process.kill('SIGKILL');
  });

  const everything: readonly [string, () => ServerSettings][] = [
    ['stdio', () => programServer([program('everything'), 'stdio'])],
    ['Streamable HTTP', () => httpServer(web.url)],
  ];

  it.each(everything)(
    'serve every kind of content over %s [MCP-1] [MCP-5] [MED-8]',
    async (_way, settings) => {
      await using bench = bridgeBench({ servers: { e: settings() }, ports: { media: headGate() } });
      expectPortable(await bench.tools());
      await expectContent(bench);
      await expectResources(bench);
    },
  );

  it('filesystem and memory work [MCP-1] [MCP-5] [MED-8]', async () => {
    await using folder = await scratchFolder();
    const path = await realpath(folder.path);
    await writeFile(join(path, 'dot.png'), Buffer.from(PNG_BASE64, 'base64'));
    await writeFile(join(path, 'fake.png'), 'no picture');
    await using bench = bridgeBench({
      servers: {
        files: programServer([program('filesystem'), path]),
        memory: programServer([program('memory')], { env: { MEMORY_FILE_PATH: join(path, 'memory.jsonl') } }),
      },
      ports: { media: headGate() },
    });
    expectPortable(await bench.tools());
    await bench.call('files_write_file', { path: join(path, 'a.txt'), content: 'grüße' });
    expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('grüße');
    expect(textOf(await bench.call('files_read_text_file', { path: join(path, 'a.txt') }))).toBe('grüße');
    const media = await bench.call('files_read_media_file', { path: join(path, 'dot.png') });
    expect(media.attachments).toHaveLength(1);
    expect(JSON.stringify([textOf(media), media.metadata])).not.toContain(PNG_BASE64);
    expect(await bench.call('files_read_media_file', { path: join(path, 'fake.png') })).toMatchObject({
      error: { code: 'media_invalid' },
    });
    const entities = [{ name: 'agentd', entityType: 'engine', observations: ['is tested'] }];
    await bench.call('memory_create_entities', { entities });
    expect(textOf(await bench.call('memory_search_nodes', { query: 'agentd' }))).toContain('is tested');
    await expect(bench.call('memory_search_nodes', { question: 'x' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });
});

async function expectContent({ call }: BridgeBench): Promise<void> {
  expect(textOf(await call('e_echo', { message: 'hi' }))).toBe('Echo: hi');
  expect(textOf(await call('e_get-sum', { a: 19, b: 23 }))).toContain('42');
  const image = await call('e_get-tiny-image', {});
  expect(image.attachments?.[0]?.record.mime_type).toBe('image/png');
  expect(textOf(image).split('\n')).toHaveLength(3);
  const structured = await call('e_get-structured-content', { location: 'New York' });
  expect(JSON.parse(textOf(structured))).toMatchObject({ conditions: expect.any(String) });
  const failed = await call('e_simulate-research-query', { topic: 'x' });
  expect(failed).toMatchObject({ error: { code: 'mcp_error' }, metadata: { mcp: { is_error: true } } });
  const told: unknown[] = [];
  const slow = await call(
    'e_trigger-long-running-operation',
    { duration: 0.2, steps: 2 },
    { report: async (progress) => void told.push(progress.message) },
  );
  expect(textOf(slow)).toContain('completed');
  expect(told[0]).toBe('1/2');
}

async function expectResources({ call }: BridgeBench): Promise<void> {
  const links = textOf(await call('e_get-resource-links', { count: 2 }));
  const target = /mcp_read_resource (\{.*?\})\]/.exec(links)?.[1] ?? '{}';
  expect(textOf(await call('mcp_read_resource', JSON.parse(target)))).toContain('demo://resource/');
  expect(textOf(await call('mcp_list_resources', { server: 'e' }))).toContain('[MCP resource link: ');
  const embedded = await call('e_get-resource-reference', { resourceType: 'Blob', resourceId: 1 });
  expect(textOf(embedded)).toContain('[demo://resource/dynamic/blob/1]');
}
