import type { PrepareContext } from '@agentd/contract';
import type { AgentListing, DelegationPorts } from './ports.ts';
import type { DelegationSettings } from './settings.ts';

/**
 * The agents that this session may start: one filter for the tool and for the prompt (DLG-1, DLG-2). None at the depth
 * limit; else every enabled agent that serves as a subagent and that no rule denies.
 */
export async function eligibleTargets(
  { host, agents, rules }: Pick<DelegationPorts, 'host' | 'agents' | 'rules'>,
  { maxDepth }: Pick<DelegationSettings, 'maxDepth'>,
  session: PrepareContext['session'],
): Promise<readonly AgentListing[]> {
  const facts = await host.find(session.id);
  if (facts === null || facts.depth >= maxDepth) return [];
  const listed = await agents.list(session);
  return listed
    .filter(({ id, mode }) => mode !== 'primary' && rules.verdict(session, id) !== 'deny')
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** What the prompt says of them; null without any (DLG-2). */
export function targetSection(targets: readonly AgentListing[]): string | null {
  if (targets.length === 0) return null;
  const lines = targets.map(
    ({ id, description }) => `- ${id}: ${description.replaceAll(/\s+/g, ' ').trim()}`,
  );
  return ['delegate_subagent starts these agents (agent_type: what it is for):', ...lines].join('\n');
}
