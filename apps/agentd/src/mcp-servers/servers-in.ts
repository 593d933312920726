import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { Surroundings } from '../situation.ts';
import { configuredServers, type ConfiguredServers } from './configured-servers.ts';
import { NO_SERVERS, readMcpJson } from './mcp-json.ts';

export interface ServersInForce extends ConfiguredServers {
  /** Variables that the files of other programs refer to; those of the settings are known elsewhere. */
  readonly variables: readonly string[];
}

/**
 * All MCP servers in force: those of the user's `mcp.json`, of the settings, and of the workspace's `.mcp.json` once it is
 * trusted; the later replaces the earlier by its name (CFG-1, MCP-1, PERM-11).
 */
export async function serversIn(
  { home, workspace, workspaceBrings }: Pick<Surroundings, 'home' | 'workspace' | 'workspaceBrings'>,
  { mcp }: Settings,
): Promise<ServersInForce> {
  const environment = process.env;
  const around = { environment, workspace };
  const own = await readMcpJson(join(home, 'mcp.json'), around);
  const brought =
    workspaceBrings === 'trusted' ? await readMcpJson(join(workspace, '.mcp.json'), around) : NO_SERVERS;
  const known = configuredServers(mcp.servers, around);
  // Their variables are expanded already: what looks like a reference now is text.
  const [fromOwn, fromBrought] = [own, brought].map(({ tables }) =>
    configuredServers(tables, { environment: {}, workspace }),
  );
  return {
    servers: { ...fromOwn?.servers, ...known.servers, ...fromBrought?.servers },
    faults: { ...own.faults, ...fromOwn?.faults, ...known.faults, ...brought.faults, ...fromBrought?.faults },
    variables: [...own.variables, ...brought.variables],
  };
}
