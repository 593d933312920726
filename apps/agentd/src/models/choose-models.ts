import type { AgentDocument } from '@agentd/engine';
import { setUpError } from '../faults.ts';

export interface ModelChoices {
  /** `--model`. */
  readonly asked: string | undefined;
  readonly agent: AgentDocument;
  /** `model` of the settings. */
  readonly configured: string | null;
  /** The first provider whose usual key variable is set. */
  readonly byKey: string | undefined;
}

/**
 * The models of a run, the first one to be tried first: `--model`, else the agent's chain, else the setting, else the
 * first provider with a key (CFG-4). Contract: throws the ways to get one when there is none.
 */
export function chooseModels({ asked, agent, configured, byKey }: ModelChoices): readonly string[] {
  if (asked !== undefined) return [asked];
  if (agent.models.length > 0) return agent.models;
  const model = configured ?? byKey;
  if (model !== undefined) return [model];
  throw setUpError(
    'no model: set a key variable (e.g. ANTHROPIC_API_KEY or OPENAI_API_KEY), or pass --model PROVIDER/MODEL, ' +
      'or set model = "PROVIDER/MODEL" in config.toml, or add a [providers.NAME] table for a server of your own, ' +
      'or play a script with --model scripted:FILE.yaml',
  );
}
