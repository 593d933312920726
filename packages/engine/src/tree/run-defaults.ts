import type { SessionFacts } from '@agentd/contract';
import type { AgentDocument } from '../agent-document.ts';

/** A run that no user started. */
export interface RunNeeds {
  readonly session: SessionFacts;
  readonly agent: AgentDocument;
  readonly trigger: 'message' | 'delegation';
  /** Models of the session's own earlier run, else of the nearest one above it in the tree; empty where there was none. */
  readonly inherited: readonly string[];
}

export interface RunLimits {
  /** `provider/model`, a fallback chain in order. */
  readonly models: readonly string[];
  readonly maxTurns: number;
  readonly timeoutMs: number;
}

/** Contract: throws where the run cannot be; nothing is written then. */
export type RunDefaults = (needs: RunNeeds) => RunLimits;

const HOUR_MS = 3_600_000;

/** The agent's own chain, else what the tree already uses. */
export const ownModelsFirst: RunDefaults = ({ agent, inherited }) => ({
  models: agent.models.length > 0 ? agent.models : inherited,
  maxTurns: 100,
  timeoutMs: HOUR_MS,
});
