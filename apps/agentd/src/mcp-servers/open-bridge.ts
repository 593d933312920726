import { join } from 'node:path';
import type { Clock, FileLocks, MediaGate, ProcessGuard } from '@agentd/contract';
import { createMcpBridge, sdkConnector, type McpBridge } from '@agentd/mcp-bridge';
import { fileCredentials, fileToolLists } from '@agentd/mcp-bridge/file';
import type { Situation } from '../situation.ts';
import { VERSION } from '../version.ts';
import { BUILTIN_TOOL_NAMES } from './builtin-names.ts';

export type BridgeSituation = Pick<Situation, 'home' | 'settings' | 'mcpServers'>;

export interface BridgeChoices {
  readonly clock: Clock;
  readonly locks: FileLocks;
  readonly media: MediaGate | null;
  readonly guard: ProcessGuard;
  /** Takes one line for each server that does not come up. */
  readonly warn?: (line: string) => void;
}

/** The configured servers; null where there are none. Starts nothing by itself (MCP-1). */
export function openBridge(
  { home, settings, mcpServers }: BridgeSituation,
  { clock, locks, media, guard, warn }: BridgeChoices,
): McpBridge | null {
  const { servers = {}, faults = {} } = mcpServers ?? {};
  for (const [name, fault] of Object.entries(faults)) warn?.(`MCP server ${name}: ${fault}: left out`);
  if (Object.keys(servers).length === 0) return null;
  const folder = join(home, 'mcp');
  const credentials = fileCredentials({
    folder: join(folder, 'credentials'),
    locks,
    clock,
  });
  return createMcpBridge(
    {
      clock,
      connector: sdkConnector({
        clock,
        credentials,
        guard,
        client: { name: 'agentd', version: VERSION },
      }),
      media,
      lists: fileToolLists({ folder: join(folder, 'tools') }),
      ...(warn === undefined
        ? {}
        : { problem: (server, problem) => warn(`MCP server ${server}: ${problem}`) }),
    },
    {
      servers,
      startupWaitMs: settings.mcp.startup_wait_ms,
      toolTextBudgetTokens: settings.mcp.tool_text_budget_tokens,
      reservedNames: BUILTIN_TOOL_NAMES,
    },
  );
}
