import { isJsonObject, type JsonObject } from '@agentd/contract';
import type { ManagedServer } from '../server/managed-server.ts';
import { sanitized } from '../names/tool-names.ts';
import { portableSchema } from '../schema/portable-schema.ts';
import { readShape } from '../schema/read-shape.ts';
import type { Shape } from '../schema/shape.ts';

/** A longer description costs more than its tool can be worth. */
const LONGEST_DESCRIPTION = 8000;

/** A tool of a server, read and cleaned, still without a name. */
export interface KnownTool {
  readonly server: ManagedServer;
  /** As the server knows it. */
  readonly raw: string;
  readonly description: string;
  readonly shape: Shape;
  readonly parameters: JsonObject;
  /** What was left out of its schema, one line each. */
  readonly diagnostics: readonly string[];
}

interface ReadTools {
  readonly tools: readonly KnownTool[];
  /** Members of the list that are no tools, one line each (field H8). */
  readonly diagnostics: readonly string[];
}

/** Reads a server's list, which may hold anything: an odd member costs itself and nothing else (MCP-5). */
function readTools(server: ManagedServer, listed: readonly unknown[]): ReadTools {
  const tools = new Map<string, KnownTool>();
  const diagnostics: string[] = [];
  for (const [index, item] of listed.entries()) {
    const raw = isJsonObject(item) ? item['name'] : undefined;
    if (!isJsonObject(item) || typeof raw !== 'string' || raw === '') {
      diagnostics.push(`entry ${index + 1} of its tool list has no name: left out`);
    } else if (tools.has(raw)) {
      diagnostics.push(`${shownName(raw)} is listed twice: the first one counts`);
    } else {
      tools.set(raw, readTool(server, raw, item));
    }
  }
  return { tools: [...tools.values()], diagnostics };
}

function readTool(server: ManagedServer, raw: string, item: JsonObject): KnownTool {
  const { shape, dropped } = readShape(item['inputSchema']);
  const diagnostics = dropped.map(
    ({ path, what }) =>
      `${shownName(raw)}: left out at ${path === '' ? 'the root' : path} of its schema: ${what}`,
  );
  const described = typeof item['description'] === 'string' ? item['description'] : item['title'];
  return {
    server,
    raw,
    description: descriptionOf({ server: server.name, raw }, typeof described === 'string' ? described : ''),
    shape,
    parameters: portableSchema(shape),
    diagnostics,
  };
}

/** The original name stands in it where the published one is another (field H6). */
function descriptionOf({ server, raw }: { server: string; raw: string }, text: string): string {
  const isAltered = sanitized(raw) !== raw || sanitized(server) !== server || raw.length > 40;
  const from = isAltered
    ? `[MCP server ${shownName(server)}, tool ${shownName(raw)}]`
    : `[MCP server ${server}]`;
  const clean = text
    .slice(0, 2 * LONGEST_DESCRIPTION)
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .trim();
  const cut =
    clean.length > LONGEST_DESCRIPTION ? `${clean.slice(0, LONGEST_DESCRIPTION).toWellFormed()}…` : clean;
  return cut === '' ? from : `${from} ${cut}`;
}

function shownName(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
}

/** Reads each list once, as long as it is the list. */
export class ToolReader {
  readonly #read = new WeakMap<readonly unknown[], ReadTools>();

  read(server: ManagedServer): ReadTools {
    const { tools } = server;
    if (tools === null) return { tools: [], diagnostics: [] };
    const known = this.#read.get(tools) ?? readTools(server, tools);
    this.#read.set(tools, known);
    return known;
  }
}
