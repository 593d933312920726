import type { ServerStatus } from '@agentd/mcp-bridge';
import type { Situation } from '../situation.ts';
import { openServers } from '../compose.ts';
import type { BridgeSituation } from './open-bridge.ts';

/** Connects to each configured server once, and tells how each of them stands, broken entries included. */
export async function lookAtServers(
  situation: BridgeSituation & Pick<Situation, 'workspace'>,
): Promise<readonly ServerStatus[]> {
  const faults = Object.entries(situation.mcpServers?.faults ?? {}).map(([name, problem]) =>
    brokenEntry(name, problem),
  );
  const bridge = openServers(situation);
  if (bridge === null) return faults;
  try {
    await bridge.tools({ id: 'look', cwd: situation.workspace, agent: '' });
    await bridge.settled();
    return [...bridge.statuses(), ...faults];
  } finally {
    await bridge.close();
  }
}

function brokenEntry(name: string, problem: string): ServerStatus {
  return { name, state: 'failed', tools: 0, problem, diagnostics: [], log: [] };
}
