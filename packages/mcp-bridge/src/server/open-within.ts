import type { ConnectionHooks, McpConnection, McpConnector, NamedTarget } from '../ports.ts';
import { within, type TimeLimit } from '../time-limit.ts';
import type { Leftovers } from './leftovers.ts';

export interface Opening {
  readonly connector: McpConnector;
  readonly server: NamedTarget;
  readonly hooks: ConnectionHooks;
  readonly limit: TimeLimit;
  readonly leftovers: Leftovers;
}

/** Opens a connection within a limit of time. One that comes too late is closed. */
export function openWithin(
  { connector, server, hooks, limit, leftovers }: Opening,
  signal: AbortSignal,
): Promise<McpConnection> {
  return within(
    limit,
    async (own) => {
      const opening = connector.connect(server, hooks, own);
      leftovers.keep(opening.then((connection) => (own.aborted ? connection.close() : undefined)));
      return opening;
    },
    signal,
  );
}
