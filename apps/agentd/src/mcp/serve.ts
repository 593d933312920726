import { once } from 'node:events';
import { pause, systemClock } from '@agentd/contract';
import type { Screen } from '../cli/screen.ts';
import { HttpDoor } from './http-door.ts';
import { serveClient, type ServedParts } from './mcp-server.ts';
import { StdioTransport } from './stdio-transport.ts';

/** Clients that close the input wait for the end of this process, and send a signal after some two seconds. */
const LAST_ANSWERS_MS = 1000;

/** Serves the client on stdin and stdout until it closes the input, or until `stop`. */
export async function serveStdio(parts: ServedParts, stop: AbortSignal): Promise<void> {
  const transport = new StdioTransport(process.stdin, process.stdout);
  const mcp = await serveClient(parts, transport);
  const stopped = aborted(stop);
  await Promise.race([transport.ended, stopped]);
  // What was asked before the end of the input may still be answered, where that is quick.
  const patience = pause(LAST_ANSWERS_MS, systemClock, stop).catch(() => undefined);
  await Promise.race([transport.quiet(), patience, stopped]);
  await mcp.close();
}

export interface HttpOptions {
  readonly port: number;
  readonly token: string | null;
}

/** Serves any number of clients on loopback until `stop`; says where on stdout, once it listens. */
export async function serveHttp(
  parts: ServedParts,
  { port, token }: HttpOptions,
  { screen, stop }: { readonly screen: Screen; readonly stop: AbortSignal },
): Promise<void> {
  const door = new HttpDoor({ parts, token });
  const url = await door.listen(port);
  screen.print(`${JSON.stringify({ url, pid: process.pid })}\n`);
  if (token === null)
    screen.tell('agentd: every user of this machine can call these tools; AGENTD_MCP_TOKEN asks for a token');
  await aborted(stop);
  await door.close();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
