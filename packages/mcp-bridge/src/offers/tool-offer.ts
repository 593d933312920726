import type { MediaGate, Tool } from '@agentd/contract';
import { assignNames, type ToolOrigin } from '../names/tool-names.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { bridgeTool } from './bridge-tool.ts';
import type { KnownTool, ToolReader } from './known-tool.ts';
import { LIST_RESOURCES_TOOL, READ_RESOURCE_TOOL, resourceTools } from './resource-tools.ts';
import { CALL_TOOL, SEARCH_TOOL, callTool, searchTool } from './search-tool.ts';
import type { NamedTool } from './search-index.ts';

export interface OfferTerms {
  readonly servers: readonly ManagedServer[];
  readonly reader: ToolReader;
  readonly media: MediaGate | null;
  readonly reservedNames: readonly string[];
  readonly budgetTokens: number;
}

/** What the bridge offers at one moment. */
export interface ToolOffer {
  /** In the prompt. */
  readonly tools: readonly Tool[];
  /** By server: what could not be taken over (MCP-5). */
  readonly diagnostics: ReadonlyMap<string, readonly string[]>;
}

/** A rough count that needs no tokenizer: English and JSON have about four characters a token. */
const CHARACTERS_A_TOKEN = 4;

/** Puts names, schemas and the budget of tool text together. Pure: the same servers give the same offer. */
export function toolOffer({ servers, reader, media, reservedNames, budgetTokens }: OfferTerms): ToolOffer {
  const read = servers.map((server) => ({ server, ...reader.read(server) }));
  const known = new Map(read.flatMap(({ tools }) => tools.map((tool) => [keyOf(tool), tool] as const)));
  const origins = [...known.values()].map(({ server, raw }) => ({ server: server.name, tool: raw }));
  const own = [SEARCH_TOOL, CALL_TOOL, LIST_RESOURCES_TOOL, READ_RESOURCE_TOOL];
  const { byName, nameless } = assignNames(origins, new Set([...reservedNames, ...own]));
  const named = inListedOrder(known, byName);
  const { direct, deferred } = withinBudget(named, budgetTokens);
  const calls = new Map(named.map(({ name, tool }) => [name, bridgeTool(name, tool, media)]));
  const tools = direct.flatMap(({ name }) => calls.get(name) ?? []);
  const view = { tools: () => deferred, find: (name: string) => calls.get(name) };
  const withResources = servers.filter((server) => server.offersResources);
  return {
    tools: [
      ...tools,
      ...(deferred.length === 0 ? [] : [searchTool(view), callTool(view)]),
      ...(withResources.length === 0 ? [] : resourceTools({ servers: () => withResources, media })),
    ],
    diagnostics: new Map(
      read.map(({ server, tools: own, diagnostics }) => [
        server.name,
        [
          ...diagnostics,
          ...own.flatMap((tool) => tool.diagnostics),
          ...nameless
            .filter((each) => each.server === server.name)
            .map(({ tool, reason }) => `${tool}: left out: ${reason}`),
        ],
      ]),
    ),
  };
}

function keyOf({ server, raw }: KnownTool): string {
  return `${server.name}\0${raw}`;
}

/** The order of servers and of their lists, so that a prompt stays the same from one run to the next. */
function inListedOrder(
  known: ReadonlyMap<string, KnownTool>,
  byName: ReadonlyMap<string, ToolOrigin>,
): readonly NamedTool[] {
  const names = new Map([...byName].map(([name, { server, tool }]) => [`${server}\0${tool}`, name]));
  return [...known].flatMap(([key, tool]) => {
    const name = names.get(key);
    return name === undefined ? [] : [{ name, tool }];
  });
}

/**
 * All of them where they fit. Else the servers in the user's order, each as a whole, as far as they fit, and the rest by
 * search: half a server in the prompt would look like all of it.
 */
function withinBudget(
  named: readonly NamedTool[],
  budgetTokens: number,
): { readonly direct: readonly NamedTool[]; readonly deferred: readonly NamedTool[] } {
  let left = budgetTokens * CHARACTERS_A_TOKEN;
  const direct = new Set<string>();
  for (const [server, tools] of Map.groupBy(named, ({ tool }) => tool.server.name)) {
    const size = tools.reduce((sum, each) => sum + textSize(each), 0);
    if (size > left) continue;
    left -= size;
    direct.add(server);
  }
  const isDirect = ({ tool }: NamedTool): boolean => direct.has(tool.server.name);
  return { direct: named.filter(isDirect), deferred: named.filter((each) => !isDirect(each)) };
}

function textSize({ name, tool }: NamedTool): number {
  return name.length + tool.description.length + JSON.stringify(tool.parameters).length;
}
