import type { Clock } from '@agentd/contract';
import type { RunDefaults } from '@agentd/engine';
import type { Settings } from '../config/settings.ts';
import { chooseModels } from '../models/choose-models.ts';
import type { ModelAccess } from '../models/model-access.ts';
import type { TreeTally } from './tree-tally.ts';

/** Turns of a run that nobody gave a limit: as many as `--max-turns` has. */
const USUAL_TURNS = 100;
/** A subagent's time is its parent's, whose end ends it; this is for those that nobody waits for. */
const USUAL_TIME_MS = 3_600_000;

export interface DefaultsInit {
  readonly settings: Pick<Settings, 'model'>;
  readonly models: Pick<ModelAccess, 'defaultModel'>;
}

/** Models and limits of a run that no user starts: the agent's chain, else what its tree uses, else the settings (CFG-4). */
export function usualRunDefaults({ settings, models }: DefaultsInit): RunDefaults {
  return ({ agent, inherited }) => ({
    models:
      agent.models.length === 0 && inherited.length > 0
        ? inherited
        : chooseModels({
            asked: undefined,
            agent,
            configured: settings.model,
            byKey: models.defaultModel(),
          }),
    maxTurns: USUAL_TURNS,
    timeoutMs: USUAL_TIME_MS,
  });
}

export interface RunBudgetInit {
  readonly clock: Pick<Clock, 'now'>;
  readonly tally: Pick<TreeTally, 'turnsOf'>;
  readonly maxTurns: number;
  readonly timeoutMs: number;
}

/** What `--max-turns` and `--timeout` leave to the root runs that come after the first one (CLI-4). */
export class RunBudget {
  readonly #init: RunBudgetInit;
  readonly #endsAt: number;

  constructor(init: RunBudgetInit) {
    this.#init = init;
    this.#endsAt = init.clock.now() + init.timeoutMs;
  }

  get msLeft(): number {
    return Math.max(0, this.#endsAt - this.#init.clock.now());
  }

  /** Root runs get what is left; subagents no more time than that. */
  readonly limit = (usual: RunDefaults): RunDefaults => {
    return (needs) => {
      const limits = usual(needs);
      const { depth, sessionId } = needs.session;
      const { maxTurns, tally } = this.#init;
      if (depth > 0) return { ...limits, timeoutMs: Math.min(this.msLeft, limits.timeoutMs) };
      return {
        ...limits,
        maxTurns: Math.max(0, maxTurns - tally.turnsOf(sessionId)),
        timeoutMs: this.msLeft,
      };
    };
  };
}
