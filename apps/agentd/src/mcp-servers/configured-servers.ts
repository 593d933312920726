import { isAbsolute, resolve } from 'node:path';
import { messageOf } from '@agentd/contract';
import {
  DEFAULT_SERVER_TIMEOUT_MS,
  type OAuthSettings,
  type ServerSettings,
  type ServerTarget,
} from '@agentd/mcp-bridge';
import type { McpServerTable } from '../config/config-schema.ts';
import { expandReferences } from '../config/env-references.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Servers as they are configured, and those that cannot be used as they are. */
export interface ConfiguredServers {
  readonly servers: Readonly<Record<string, ServerSettings>>;
  /** Why a server is left out, one line each, by its name. */
  readonly faults: Readonly<Record<string, string>>;
}

export interface ServerSurroundings {
  readonly environment: Environment;
  /** Where relative paths start. */
  readonly workspace: string;
}

/** What the bridge is told of `[mcp.servers]`. A fault of one server costs that server and nothing else (MCP-1). */
export function configuredServers(
  tables: Readonly<Record<string, McpServerTable>>,
  around: ServerSurroundings,
): ConfiguredServers {
  const servers: Record<string, ServerSettings> = {};
  const faults: Record<string, string> = {};
  for (const [name, table] of Object.entries(tables)) {
    try {
      servers[name] = settingsOf(name, table, around);
    } catch (error) {
      faults[name] = messageOf(error);
    }
  }
  return { servers, faults };
}

function settingsOf(name: string, table: McpServerTable, around: ServerSurroundings): ServerSettings {
  const { enabled = true, lazy = false, timeout_ms: timeoutMs = DEFAULT_SERVER_TIMEOUT_MS } = table;
  return { target: targetOf(name, table, around), enabled, lazy, timeoutMs };
}

function targetOf(
  name: string,
  table: McpServerTable,
  { environment, workspace }: ServerSurroundings,
): ServerTarget {
  const expand = (value: string): string => expandReferences(value, environment, `MCP server "${name}"`);
  const { command, args = [], env = {}, cwd = '.', url, headers = {}, oauth } = table;
  if (command !== undefined) {
    const folder = isAbsolute(cwd) ? cwd : resolve(workspace, cwd);
    return { kind: 'stdio', command, args, env: mapped(env, expand), cwd: folder };
  }
  const address = expand(url ?? '');
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new Error(`MCP server "${name}": its url is no http or https address`);
  }
  return { kind: 'http', url: address, headers: mapped(headers, expand), oauth: oauthOf(oauth, expand) };
}

function mapped(
  values: Readonly<Record<string, string>>,
  expand: (value: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, expand(value)]));
}

function oauthOf(oauth: McpServerTable['oauth'], expand: (value: string) => string): OAuthSettings | null {
  if (oauth === false) return null;
  if (oauth === undefined || oauth === true) return {};
  const { client_id: clientId, client_secret, client_metadata_url: clientMetadataUrl } = oauth;
  const { scope, callback_port: callbackPort } = oauth;
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(client_secret === undefined ? {} : { clientSecret: expand(client_secret) }),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
    ...(callbackPort === undefined ? {} : { callbackPort }),
  };
}
