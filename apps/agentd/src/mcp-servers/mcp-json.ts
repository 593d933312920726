import { readFile } from 'node:fs/promises';
import { codeOf, isJsonObject, messageOf, type JsonObject, type JsonValue } from '@agentd/contract';
import type { McpServerTable } from '../config/config-schema.ts';
import { mcpServer } from '../config/mcp-server-schema.ts';
import { setUpError } from '../faults.ts';

/** What a file in the format of other programs says: servers, and entries that we cannot use. */
export interface ForeignServers {
  readonly tables: Readonly<Record<string, McpServerTable>>;
  readonly faults: Readonly<Record<string, string>>;
  /** Variables whose values servers get: as secret as those of the settings (BASH-2). */
  readonly variables: readonly string[];
}

export interface ForeignSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workspace: string;
}

export const NO_SERVERS: ForeignServers = { tables: {}, faults: {}, variables: [] };

/**
 * Reads `.mcp.json` or another `mcpServers` file (MCP-1). Such files are other programs': keys that we do not know are
 * passed over, and an entry that we cannot use costs itself. Contract: throws one line for what is no such file.
 */
export async function readMcpJson(file: string, around: ForeignSurroundings): Promise<ForeignServers> {
  const entries = await entriesOf(file);
  if (entries === null) return NO_SERVERS;
  const tables: Record<string, McpServerTable> = {};
  const faults: Record<string, string> = {};
  for (const [name, entry] of Object.entries(entries)) {
    try {
      tables[name] = tableOf(entry, around);
    } catch (error) {
      faults[name] = `${file}: ${name}: ${messageOf(error)}`;
    }
  }
  return { tables, faults, variables: Object.values(entries).flatMap(variablesOf) };
}

async function entriesOf(file: string): Promise<JsonObject | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw setUpError(`${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const value = parsed(file, text);
  const servers = isJsonObject(value) ? (value['mcpServers'] ?? value['servers']) : undefined;
  if (!isJsonObject(servers)) throw setUpError(`${file}: expected an object with "mcpServers"`);
  return servers;
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw setUpError(`${file}: not valid JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** Transports by the names that other programs give them. */
const NO_TRANSPORT = /^(?:sse|ws|websocket)$/;

function tableOf(entry: JsonValue, around: ForeignSurroundings): McpServerTable {
  if (!isJsonObject(entry)) throw new Error('expected an object');
  const { type } = entry;
  if (typeof type === 'string' && NO_TRANSPORT.test(type)) {
    throw new Error(`its transport "${type}" is not supported; use stdio or http`);
  }
  const draft = { ...targetOf(entry, around), ...commonOf(entry) };
  const given = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  const result = mcpServer.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not valid'}`.trim());
}

function targetOf(entry: JsonObject, around: ForeignSurroundings) {
  const { command, args, env, cwd, url, httpUrl, headers, oauth } = entry;
  const wanted = command === undefined ? { url: httpUrl ?? url, headers } : { command, args, env, cwd };
  const target = Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [key, expanded(value, around)]),
  );
  return command === undefined && isJsonObject(oauth) ? { ...target, oauth: oauthTable(oauth) } : target;
}

function commonOf({ disabled, enabled, timeout, timeout_ms: own }: JsonObject) {
  const limit = own ?? timeout;
  return {
    enabled: disabled === true || enabled === false ? false : undefined,
    timeout_ms: typeof limit === 'number' && limit >= 1 ? Math.ceil(limit) : undefined,
  };
}

function oauthTable({ clientId, scopes, callbackPort }: JsonObject): JsonObject {
  return {
    ...(typeof clientId === 'string' ? { client_id: clientId } : {}),
    ...(typeof scopes === 'string'
      ? { scope: scopes }
      : Array.isArray(scopes)
        ? { scope: scopes.join(' ') }
        : {}),
    ...(typeof callbackPort === 'number' ? { callback_port: callbackPort } : {}),
  };
}

/** `${VAR}`, `${VAR:-default}` and `${env:VAR}` as other programs write them, in every text of an entry. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
const WORKSPACE = /\$\{workspaceFolder\}/g;

/** Of the places where credentials stand; a command or a folder is none. */
function variablesOf(entry: JsonValue): readonly string[] {
  if (!isJsonObject(entry)) return [];
  const { args, env, url, httpUrl, headers } = entry;
  const texts = JSON.stringify([args, env, url, httpUrl, headers]);
  return [...texts.matchAll(VARIABLE)].map(([, name = '']) => name);
}

function expanded(value: JsonValue | undefined, around: ForeignSurroundings): JsonValue | undefined {
  if (typeof value === 'string') return expandedText(value, around);
  if (Array.isArray(value)) return value.map((item) => expanded(item as JsonValue, around) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, expanded(member, around) ?? null]),
  );
}

function expandedText(text: string, { environment, workspace }: ForeignSurroundings): string {
  return text
    .replaceAll(WORKSPACE, () => workspace)
    .replaceAll(VARIABLE, (_, name: string, otherwise?: string) => {
      const found = environment[name] ?? otherwise;
      if (found === undefined) throw new Error(`the environment variable ${name} is not set`);
      return found;
    });
}
