import { EXIT } from '../../exit-codes.ts';
import { asSetUp } from '../../faults.ts';
import { openServed, type ServedOptions } from '../../mcp/open-served.ts';
import { serveHttp, serveStdio } from '../../mcp/serve.ts';
import { onInterruption } from '../interruption.ts';
import type { Screen } from '../screen.ts';

export interface McpOptions extends ServedOptions {
  /** `--http`: true stands for the usual port. */
  readonly http?: number | true;
}

const USUAL_PORT = 7421;

/** Clients on the SDK of the protocol close the connection over a message of more than 10 MiB; base64 adds a third. */
const MAX_FILE_BYTES_ON_STDIO = 7 * 1024 * 1024;

const TO_A_PERSON =
  'agentd: waiting for an MCP client on stdin: a client starts this command by itself (Ctrl-D ends it)';

/** `mcp`: agentd's own tools as an MCP server, without a model (MCP-8). */
export async function serveMcp({ http, ...options }: McpOptions, screen: Screen): Promise<number> {
  using interruption = onInterruption();
  const stop = AbortSignal.any([interruption.signal, screen.closed]);
  const overHttp = http !== undefined;
  const { parts, end } = await asSetUp(openServed(options, overHttp ? Infinity : MAX_FILE_BYTES_ON_STDIO));
  if (parts.notice !== null) screen.tell(parts.notice);
  try {
    if (!overHttp) {
      if (process.stdin.isTTY) screen.tell(TO_A_PERSON);
      await serveStdio(parts, stop);
    } else {
      const token = process.env['AGENTD_MCP_TOKEN'] || null;
      await serveHttp(parts, { port: http === true ? USUAL_PORT : http, token }, { screen, stop });
    }
    return EXIT.completed;
  } finally {
    await end();
  }
}
