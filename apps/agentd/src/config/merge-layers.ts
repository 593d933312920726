import type { ConfigLayer } from './config-schema.ts';

/**
 * Lays a workspace's settings over the user's: what has the same id (a table, a provider, a server, a price)
 * is replaced whole, fields are never merged (CFG-1).
 */
export function mergeLayers(user: ConfigLayer, workspace: ConfigLayer): ConfigLayer {
  const merged: ConfigLayer = {
    ...user,
    ...workspace,
    providers: { ...user.providers, ...workspace.providers },
    pricing: { models: { ...user.pricing?.models, ...workspace.pricing?.models } },
    mcp: mergeMcp(user.mcp ?? {}, workspace.mcp ?? {}),
  };
  return merged;
}

type McpTable = NonNullable<ConfigLayer['mcp']>;

/** Servers have ids of their own; the rest of `[mcp]` is one table. */
function mergeMcp(
  { servers: userServers, ...user }: McpTable,
  { servers: workspaceServers, ...workspace }: McpTable,
): McpTable {
  const table = Object.keys(workspace).length > 0 ? workspace : user;
  return { ...table, servers: { ...userServers, ...workspaceServers } };
}
