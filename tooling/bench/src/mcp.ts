import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { systemClock, type Tool } from '@agentd/contract';
import { createMcpBridge, sdkConnector, type McpBridge, type McpBridgePorts } from '@agentd/mcp-bridge';
import { memoryToolLists } from '@agentd/mcp-bridge/testing';
import { inTurn, median } from './measure.ts';

const SERVER = resolve(import.meta.dirname, '../../../packages/mcp-bridge/src/test/odd-server.ts');
const TOOLS = ['echo', 'big'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const ARGS = [SERVER, JSON.stringify({ tools: TOOLS })];
const NEVER = new AbortController().signal;
const SESSION = { id: 's', cwd: '/', agent: 'a' };
const MIB = 1024 * 1024;
const CALLS = 500;
const SERVERS = 12;

/** The bridge against the bare client of the SDK: one call, a large result, many servers at a start. */
export async function mcp(): Promise<readonly string[]> {
  return [await callOverhead(), ...(await largeResults()), await manyServers()];
}

function bridgeOf(
  count: number,
  changes: { readonly lazy?: boolean; readonly lists?: McpBridgePorts['lists'] } = {},
): McpBridge {
  const { lazy = false, lists = null } = changes;
  const target = { kind: 'stdio', command: process.execPath, args: ARGS, env: {}, cwd: tmpdir() } as const;
  const settings = { target, enabled: true, lazy, timeoutMs: 120_000 };
  const client = { name: 'bench', version: '1' };
  const connector = sdkConnector({ clock: systemClock, credentials: null, client });
  return createMcpBridge(
    { clock: systemClock, connector, media: null, lists },
    {
      servers: Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, settings])),
      startupWaitMs: 120_000,
      toolTextBudgetTokens: 1_000_000,
      reservedNames: [],
    },
  );
}

async function bareClient(maxBufferSize = 256 * MIB): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: ARGS, maxBufferSize }));
  return client;
}

async function callOnce(tools: readonly Tool[], name: string, args: object): Promise<void> {
  const tool = tools.find(({ spec }) => spec.name === name);
  const call = await tool?.prepare(args, { callId: 'c', session: SESSION, turn: {}, model: null }, NEVER);
  await call?.execute({ callId: 'c', report: async () => {}, stdin: null }, NEVER);
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

async function callOverhead(): Promise<string> {
  const [bridge, client] = [bridgeOf(1), await bareClient()];
  const tools = await bridge.tools(SESSION);
  const pairs = await inTurn(
    CALLS,
    () => elapsedMs(() => callOnce(tools, 's0_echo', { n: 1 })),
    () => elapsedMs(() => client.callTool({ name: 'echo', arguments: { n: 1 } })),
  );
  await Promise.all([bridge.close(), client.close()]);
  const [own, bare] = [0, 1].map((side) => median(pairs.map((pair) => pair[side] ?? Number.NaN)));
  return `one call: ${own?.toFixed(2)} ms, bare client ${bare?.toFixed(2)} ms (medians of ${CALLS})`;
}

/** The bare client copies its buffer with each chunk: 32 MiB would keep it busy for most of a minute. */
const COMPARED_MIB = 8;

async function largeResults(): Promise<readonly string[]> {
  const [bridge, client] = [bridgeOf(1), await bareClient()];
  const tools = await bridge.tools(SESSION);
  const own = (mib: number) => elapsedMs(() => callOnce(tools, 's0_big', { bytes: mib * MIB }));
  const bare = (mib: number) =>
    elapsedMs(() =>
      client.callTool({ name: 'big', arguments: { bytes: mib * MIB } }, undefined, { timeout: 600_000 }),
    );
  const pairs = await inTurn(
    3,
    () => own(COMPARED_MIB),
    () => bare(COMPARED_MIB),
  );
  const [ownMs, bareMs] = [0, 1].map((side) => median(pairs.map((pair) => pair[side] ?? Number.NaN)));
  const large = await own(32);
  await Promise.all([bridge.close(), client.close()]);
  return [
    `a result of ${COMPARED_MIB} MiB: ${ownMs?.toFixed(0)} ms, bare client ${bareMs?.toFixed(0)} ms`,
    `a result of 32 MiB: ${large.toFixed(0)} ms`,
  ];
}

async function manyServers(): Promise<string> {
  const lists = memoryToolLists();
  const eager = bridgeOf(SERVERS, { lists });
  const eagerMs = await elapsedMs(() => eager.tools(SESSION));
  await eager.close();
  const lazy = bridgeOf(SERVERS, { lists, lazy: true });
  const lazyMs = await elapsedMs(() => lazy.tools(SESSION));
  const tools = await lazy.tools(SESSION);
  const firstUse = await elapsedMs(() => callOnce(tools, 's7_echo', {}));
  await lazy.close();
  return `${SERVERS} servers until tools are there: eager ${eagerMs.toFixed(0)} ms, lazy ${lazyMs.toFixed(1)} ms, its first call ${firstUse.toFixed(0)} ms`;
}
