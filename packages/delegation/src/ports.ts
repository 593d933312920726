import type { Ids, PermissionEffect, PrepareContext, SessionHost } from '@agentd/contract';
import type { DelegationLedger } from './ledger.ts';

/** An agent that a session might start. */
export interface AgentListing {
  /** The id of its document (CFG-7). */
  readonly id: string;
  /** For the model that chooses. */
  readonly description: string;
  /** `primary` agents are never started as subagents. */
  readonly mode: 'primary' | 'subagent' | 'all';
}

/** Contract: the agents of this session's project, enabled ones only, each id once. */
export interface AgentCatalogue {
  readonly list: (session: PrepareContext['session']) => Promise<readonly AgentListing[]>;
}

/** Contract: answers from the rules that hold for this session now, without asking anybody. */
export interface DelegationRules {
  /** The verdict of the action `delegate` on this agent id (PERM-10). */
  readonly verdict: (session: PrepareContext['session'], agentId: string) => PermissionEffect;
}

/** Everything that delegation asks of others. */
export interface DelegationPorts {
  readonly host: SessionHost<DelegationLedger>;
  readonly agents: AgentCatalogue;
  readonly rules: DelegationRules;
  /** Names sessions and their handles. */
  readonly ids: Ids;
}
