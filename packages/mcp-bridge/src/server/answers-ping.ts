import type { Clock } from '@agentd/contract';
import type { McpConnection } from '../ports.ts';
import { within } from '../time-limit.ts';

/** A server that does not even answer a ping within this time is given up. */
const PING_MS = 2000;

/** Whether the server is still there. Rejects only when the signal aborts. */
export async function answersPing(
  connection: McpConnection,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  signal: AbortSignal,
): Promise<boolean> {
  const limit = { clock, ms: Math.min(PING_MS, ms), what: 'a ping' };
  try {
    await within(limit, (own) => connection.ping(own), signal);
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
