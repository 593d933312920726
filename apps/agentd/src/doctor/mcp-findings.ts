import type { ServerStatus } from '@agentd/mcp-bridge';
import { counted } from '../cli/counted.ts';
import type { Settings } from '../config/settings.ts';
import { lookAtServers } from '../mcp-servers/look-at-servers.ts';
import type { Surroundings } from '../situation.ts';
import { serversIn } from '../mcp-servers/servers-in.ts';
import type { Finding } from './examine.ts';

/** Each configured MCP server, connected to once. */
export async function mcpFindings(around: Surroundings, settings: Settings): Promise<readonly Finding[]> {
  const { home, workspace } = around;
  const mcpServers = await serversIn(around, settings);
  const statuses = await lookAtServers({ home, workspace, settings, mcpServers });
  return statuses.map((status) => ({
    subject: `mcp server ${status.name}`,
    ok: isWell(status),
    detail: detailOf(status),
  }));
}

function isWell({ state }: ServerStatus): boolean {
  return state === 'connected' || state === 'disabled' || state === 'lazy';
}

function detailOf({ state, tools, problem, diagnostics }: ServerStatus): string {
  const left = diagnostics.length === 0 ? '' : `, ${counted(diagnostics.length, 'note')} on its schemas`;
  return problem ?? (state === 'connected' ? `connected, ${counted(tools, 'tool')}${left}` : state);
}
