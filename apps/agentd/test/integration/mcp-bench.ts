import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { commandOf, surroundingsOf, type Workbench } from './workbench.ts';

type Args = Record<string, unknown>;

/** A client of the SDK, connected to `agentd mcp`. */
export interface McpPeer extends AsyncDisposable {
  readonly client: Client;
  readonly call: (name: string, args: Args, options?: RequestOptions) => Promise<CallToolResult>;
  /** The text of a result, marked where it is an error. */
  readonly text: (name: string, args: Args) => Promise<string>;
}

export async function peerOver(transport: Transport): Promise<McpPeer> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const call: McpPeer['call'] = async (name, args, options) =>
    (await client.callTool({ name, arguments: args }, CallToolResultSchema, options)) as CallToolResult;
  const text: McpPeer['text'] = async (name, args) => textOf(await call(name, args));
  return { client, call, text, [Symbol.asyncDispose]: () => client.close() };
}

export function textOf({ content, isError }: CallToolResult): string {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return `${isError === true ? 'failed: ' : ''}${texts.join('\n')}`;
}

/** Connects the SDK's own client over stdio, as a host does. */
export async function stdioPeer(bench: Workbench, ...args: readonly string[]): Promise<McpPeer> {
  const [command, ...rest] = commandOf(['mcp', ...args]);
  const { cwd, env } = surroundingsOf(bench);
  return peerOver(new StdioClientTransport({ command, args: rest, cwd, env, stderr: 'ignore' }));
}

/** `agentd mcp` with its streams in the test's hands. */
export function rawServer(bench: Workbench, ...args: readonly string[]) {
  const [command, ...rest] = commandOf(['mcp', ...args]);
  const child = spawn(command, rest, surroundingsOf(bench));
  child.stdin.on('error', () => undefined);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const lines = (): readonly Message[] =>
    stdout
      .slice(0, stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Message);
  const message = async (wanted: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const found = lines().find(wanted);
      if (found !== undefined) return found;
      await Promise.race([
        once(child.stdout, 'data'),
        ended.then(() => {
          throw new Error(`ended without it: ${stdout}${stderr}`);
        }),
      ]);
    }
  };
  const say = (value: object): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);
  /** Sends a request and waits for its answer. */
  const ask = (id: number, method: string, params: object = {}): Promise<Message> => {
    say({ id, method, params });
    return message((candidate) => candidate.id === id);
  };
  const initialize = async (): Promise<void> => {
    await ask(0, 'initialize', INITIALIZE);
    say({ method: 'notifications/initialized' });
  };
  return { child, ended, lines, message, say, ask, initialize };
}

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Starts `agentd mcp --http 0`; resolves with its address. */
export async function httpServer(
  bench: Workbench,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
) {
  const started = bench.start(['mcp', '--http', '0', ...args], { env });
  await started.printed('\n');
  const [, url = '', pid = ''] = /"url":"([^"]+)","pid":(\d+)/.exec(started.stdout()) ?? [];
  const stop = async () => {
    started.child.kill('SIGTERM');
    return started.ended;
  };
  return { url: new URL(url), pid: Number(pid), stop, ended: started.ended };
}

/** The number in a file that a command has written for the test. */
export async function pidIn(file: string): Promise<number> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (/^\d+\n/.test(text)) return Number(text);
    await wait(20);
  }
}

/** Resolves once the process is no more. */
export async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await wait(20);
  }
}
