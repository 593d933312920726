/** `[delegation]` of the configuration (DLG-9). */
export interface DelegationSettings {
  /** How deep below the root a session may be; 0 turns delegation off. */
  readonly maxDepth: number;
  /** Background children of one root that run at a time; four times as many may wait. */
  readonly maxConcurrency: number;
}

export const DEFAULT_DELEGATION_SETTINGS: DelegationSettings = { maxDepth: 3, maxConcurrency: 4 };

/** How many background children of one root may wait for each that may run (DLG-9). */
const WAITING_PER_RUNNING = 4;

export function queueCapacity({ maxConcurrency }: DelegationSettings): number {
  return WAITING_PER_RUNNING * maxConcurrency;
}
