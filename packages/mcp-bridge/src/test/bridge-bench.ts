import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  systemClock,
  type MediaGate,
  type ModelInfo,
  type Tool,
  type ToolCompletion,
  type ToolProgress,
} from '@agentd/contract';
import { createMcpBridge, type McpBridge } from '../create-mcp-bridge.ts';
import type { McpBridgePorts } from '../ports.ts';
import { sdkConnector } from '../sdk/sdk-connector.ts';
import type { McpBridgeSettings, ServerSettings } from '../settings.ts';
import type { OddSettings } from './odd-server.ts';

const NEVER = new AbortController().signal;
export const SESSION = { id: 's', cwd: '/', agent: 'a' } as const;

/** Long enough for a machine with other work; nothing that a test waits for takes this long. */
const AMPLE_MS = 60_000;

/** A program of this machine as a server. */
export function programServer(
  args: readonly string[],
  changes: Partial<ServerSettings> & {
    readonly env?: Readonly<Record<string, string>>;
    readonly command?: string;
  } = {},
): ServerSettings {
  const { env = {}, command = process.execPath, ...rest } = changes;
  const target = { kind: 'stdio', command, args, env, cwd: tmpdir() } as const;
  return { target, enabled: true, lazy: false, timeoutMs: AMPLE_MS, ...rest };
}

/** The hand-made server; `journal` tells what it was asked. */
export function oddServer(
  settings: OddSettings,
  changes: Parameters<typeof programServer>[1] = {},
): ServerSettings {
  return programServer([join(import.meta.dirname, 'odd-server.ts'), JSON.stringify(settings)], changes);
}

export function httpServer(url: string, changes: Partial<ServerSettings> = {}): ServerSettings {
  const target = { kind: 'http', url, headers: {}, oauth: null } as const;
  return { target, enabled: true, lazy: false, timeoutMs: AMPLE_MS, ...changes };
}

export interface BenchInit {
  readonly servers: Readonly<Record<string, ServerSettings>>;
  readonly ports?: Partial<McpBridgePorts>;
  readonly settings?: Partial<McpBridgeSettings>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly model?: ModelInfo | null;
  readonly report?: (progress: ToolProgress) => Promise<void>;
}

/** A bridge and what a loop would do with it; `await using` ends all its servers. */
export interface BridgeBench extends AsyncDisposable {
  readonly bridge: McpBridge;
  readonly tools: () => Promise<readonly Tool[]>;
  readonly names: () => Promise<readonly string[]>;
  readonly tool: (name: string) => Promise<Tool>;
  readonly call: (name: string, args: unknown, options?: CallOptions) => Promise<ToolCompletion>;
}

export function bridgeBench({ servers, ports, settings }: BenchInit): BridgeBench {
  const client = { name: 'test', version: '1' };
  const bridge = createMcpBridge(
    {
      clock: systemClock,
      connector: sdkConnector({ clock: systemClock, credentials: null, client }),
      media: null,
      lists: null,
      ...ports,
    },
    { servers, startupWaitMs: AMPLE_MS, toolTextBudgetTokens: 1_000_000, reservedNames: [], ...settings },
  );
  const tools = (): Promise<readonly Tool[]> => bridge.tools(SESSION);
  const tool = async (name: string): Promise<Tool> => {
    const all = await bridge.refresh();
    const found = [...all, ...(await tools())].find(({ spec }) => spec.name === name);
    if (found === undefined) throw new Error(`no tool ${name}; ${all.map(({ spec }) => spec.name).join()}`);
    return found;
  };
  return {
    bridge,
    tools,
    names: async () => (await tools()).map(({ spec }) => spec.name),
    tool,
    call: async (name, args, options = {}) => callTool(await tool(name), args, options),
    [Symbol.asyncDispose]: () => bridge.close(),
  };
}

/** One call as an engine makes it. */
export async function callTool(
  tool: Tool,
  args: unknown,
  options: CallOptions = {},
): Promise<ToolCompletion> {
  const { signal = NEVER, model = null, report = async () => {} } = options;
  const call = await tool.prepare(args, { callId: 'c', session: SESSION, turn: {}, model }, signal);
  return call.execute({ callId: 'c', report, stdin: null }, signal);
}

export function textOf({ output }: ToolCompletion): string {
  return output.kind === 'single' ? output.text : '';
}

/** A fresh folder; `await using` removes it. */
export async function scratchFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'agentd-mcp-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The lines that a server noted so far; none before its start. */
export async function linesOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

export const PNG_BASE64 = PNG.toString('base64');

/** A gate that knows PNG and PDF by their first bytes, and takes what a test lets it take. */
export function headGate(refuse: (name: string | null) => Error | null = () => null): MediaGate {
  return {
    admit: async ({ content, name }) => {
      if (!('buffer' in content)) throw new Error('a block is handed over whole');
      const head = Buffer.from(content).toString('latin1');
      const kind = head.startsWith('\x89PNG') ? 'image' : head.startsWith('%PDF') ? 'pdf' : null;
      if (kind === null) return null;
      const refusal = refuse(name);
      if (refusal !== null) throw refusal;
      const mime_type = kind === 'image' ? 'image/png' : 'application/pdf';
      const record = { mime_type, byte_length: content.length, sha256: '0'.repeat(64), filename: name };
      return { kind, record, bytes: content, place: 'tool_result' };
    },
  };
}

/** Waits until a look finds what it looks for; the test's own limit of time ends a wait in vain. */
export async function until(look: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 10));
}
