import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@agentd/contract';
import type { ConnectionHooks, McpConnection, NamedTarget } from '../ports.ts';
import { StdioTransport } from '../stdio/stdio-transport.ts';
import { faultOf } from './fault-of.ts';
import { HttpPeer } from './http-peer.ts';
import { noOutputCheck } from './no-output-check.ts';
import { NO_LIMIT, SdkConnection, type SdkPeer } from './sdk-connection.ts';
import type { SdkConnectorPorts } from './sdk-connector.ts';

export interface ConnectionRequest {
  readonly server: NamedTarget;
  readonly hooks: ConnectionHooks;
}

/** What comes after its request has ended: the last word of progress, an answer that nobody waits for any more. */
const EXPECTED = /unknown (?:token|message ID)/;

/** Opens and initializes one connection. Contract: that of `McpConnector.connect`. */
export async function openConnection(
  ports: SdkConnectorPorts,
  { server, hooks }: ConnectionRequest,
  signal: AbortSignal,
): Promise<McpConnection> {
  signal.throwIfAborted();
  const client = clientFor(ports, server.name);
  const peer = peerOf(ports, { server, hooks });
  const connection = new SdkConnection(client, peer);
  // Before the first message: some servers register their tools as soon as they hear of us.
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => hooks.toolsChanged());
  let isOpen = false;
  Object.assign(client, {
    onerror: (error: Error) => {
      if (!EXPECTED.test(error.message)) hooks.log(`protocol: ${error.message}`);
    },
    onclose: () => {
      if (isOpen && !connection.isClosing) hooks.closed(peer.endReason());
    },
  });
  try {
    await client.connect(peer.transport, { signal, ...NO_LIMIT });
    isOpen = true;
    return connection;
  } catch (error) {
    await connection.close();
    throw faultOf(error, peer);
  }
}

function clientFor({ client: info, elicit }: SdkConnectorPorts, server: string): Client {
  const capabilities = elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true } } };
  const client = new Client(info, { capabilities, jsonSchemaValidator: noOutputCheck });
  if (elicit === undefined) return client;
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    const form = 'requestedSchema' in params ? withoutDialect(params.requestedSchema) : null;
    const { action, content } = await elicit({ server, message: params.message, form });
    return { action, ...(content === undefined ? {} : { content: content as Record<string, string> }) };
  });
  return client;
}

function withoutDialect(schema: object): JsonObject {
  const { $schema: _dialect, ...form } = schema as { readonly [key: string]: never };
  return form;
}

function peerOf(ports: SdkConnectorPorts, { server, hooks }: ConnectionRequest): SdkPeer {
  const { name, target } = server;
  if (target.kind === 'http') return new HttpPeer({ name, target }, ports);
  const { clock, guard } = ports;
  const transport = new StdioTransport(target, {
    clock,
    log: hooks.log,
    ...(guard === undefined ? {} : { guard }),
  });
  return {
    transport,
    endReason: () => transport.endReason,
    needsAuth: () => null,
    hadSession: () => false,
    close: () => transport.close(),
  };
}
