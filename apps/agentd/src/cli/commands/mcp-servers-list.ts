import type { ServerStatus } from '@agentd/mcp-bridge';
import { lookAtServers } from '../../mcp-servers/look-at-servers.ts';
import { EXIT } from '../../exit-codes.ts';
import { situate } from '../../situation.ts';
import { counted } from '../counted.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import type { Screen } from '../screen.ts';

/** `mcp-servers list`: connects to every server once, and tells whether it works (MCP-1). */
export async function listMcpServers(options: PlaceOptions & DataOptions, screen: Screen): Promise<number> {
  const situation = await situate(options);
  if (situation.skipped !== null) screen.tell(situation.skipped);
  const statuses = await lookAtServers(situation);
  if (options.json === true) {
    screen.print(`${JSON.stringify(statuses, null, 2)}\n`);
    return EXIT.completed;
  }
  if (statuses.length === 0) screen.print('no MCP servers; add [mcp.servers.NAME] to config.toml\n');
  else printRows(screen, statuses.map(rowOf));
  return EXIT.completed;
}

function rowOf({ name, state, tools, problem, diagnostics }: ServerStatus): readonly string[] {
  const notes = diagnostics.length === 0 ? '' : `; ${counted(diagnostics.length, 'note')}, see --json`;
  return [name, state, problem ?? `${counted(tools, 'tool')}${notes}`];
}
