import type { JsonObject } from '@agentd/contract';
import { deferred, type Deferred } from '@agentd/contract/testing';
import type { CallHooks, ConnectionHooks, McpConnection, McpConnector, Page, ServerCall } from '../ports.ts';

/** A call that a fake server got and has not answered. */
export interface OpenCall extends ServerCall {
  readonly hooks: CallHooks;
  readonly signal: AbortSignal;
  readonly answer: Deferred<JsonObject>;
}

/** A connection whose every answer is in the test's hands. */
export interface FakeConnection {
  readonly hooks: ConnectionHooks;
  readonly calls: OpenCall[];
  readonly closed: () => boolean;
}

export interface FakeConnector extends McpConnector {
  readonly connections: FakeConnection[];
  /** Tools of connections, pages of one; may be changed meanwhile. */
  tools: readonly unknown[];
  /** How often a list was asked for. */
  listings: number;
  /** What the next connection fails with. */
  fault: Error | null;
  pong: boolean;
}

/** Calls settle when the test answers them, or when they are aborted. */
export function fakeConnector(): FakeConnector {
  const connector: FakeConnector = {
    connections: [],
    tools: [{ name: 'work' }],
    listings: 0,
    fault: null,
    pong: true,
    authorize: async () => {},
    connect: async (_server, hooks, signal) => {
      signal.throwIfAborted();
      const { fault } = connector;
      if (fault !== null) throw fault;
      const calls: OpenCall[] = [];
      let isClosed = false;
      connector.connections.push({ hooks, calls, closed: () => isClosed });
      return connection(connector, calls, () => {
        isClosed = true;
      });
    },
  };
  return connector;
}

function connection(connector: FakeConnector, calls: OpenCall[], onClose: () => void): McpConnection {
  return {
    offers: { tools: true, resources: false },
    list: async (): Promise<Page> => {
      connector.listings += 1;
      return { items: connector.tools };
    },
    call: (call, hooks, signal) => {
      const answer = deferred<JsonObject>();
      signal.addEventListener('abort', () => answer.reject(signal.reason as Error));
      calls.push({ ...call, hooks, signal, answer });
      return answer.promise;
    },
    read: async () => ({ contents: [] }),
    ping: (signal) =>
      connector.pong
        ? Promise.resolve()
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
    close: async () => onClose(),
  };
}
