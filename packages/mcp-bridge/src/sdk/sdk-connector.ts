import type { Clock, JsonObject, ProcessGuard } from '@agentd/contract';
import type { CredentialStore } from '../oauth/credentials.ts';
import type { McpConnector } from '../ports.ts';

/** What an MCP server may ask the user for, and what was answered. */
export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
}

/** Asks the user a server's question. Contract: never rejects; what it gets is a server's word, untrusted. */
export type Elicit = (question: {
  readonly server: string;
  readonly message: string;
  /** JSON Schema of a form; null for a question that is a web page. */
  readonly form: JsonObject | null;
}) => Promise<ElicitationAnswer>;

export interface SdkConnectorPorts {
  readonly clock: Clock;
  /** Tokens and clients of authorization servers; null authorizes nobody (MCP-6). */
  readonly credentials: CredentialStore | null;
  /** Absent: servers are told that nobody can be asked. */
  readonly elicit?: Elicit;
  /** Told of every program that is started; absent: one may outlive a SIGKILL of this process. */
  readonly guard?: ProcessGuard;
  /** How we introduce ourselves. */
  readonly client: { readonly name: string; readonly version: string };
}

/** Connects with the official SDK, which is loaded at the first connection: it costs more than a start-up may take. */
export function sdkConnector(ports: SdkConnectorPorts): McpConnector {
  return {
    connect: async (server, hooks, signal) => {
      const { openConnection } = await import('./open-connection.ts');
      return openConnection(ports, { server, hooks }, signal);
    },
    authorize: async (server, interaction, signal) => {
      const { authorizeServer } = await import('../oauth/authorize.ts');
      return authorizeServer(ports, { server, interaction }, signal);
    },
  };
}
