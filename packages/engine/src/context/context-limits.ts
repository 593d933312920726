import type { ModelInfo } from '@agentd/contract';

export interface ContextSettings {
  /** Percent of the room for input past which room is made (`[context] trigger_percent`, SES-8). */
  readonly triggerPercent: number;
}

export const DEFAULT_CONTEXT: ContextSettings = { triggerPercent: 70 };

/** Tokens of one request to one model. */
export interface ContextLimits {
  /** Past it room is made. */
  readonly trigger: number;
  /** The context less the output that is reserved in it: past it a request is refused. */
  readonly room: number;
}

/** No answer is longer in practice, whatever a model advertises. */
const LONGEST_OUTPUT = 32_000;

/** The output may reserve half of the context at most: the rest is needed to ask. */
export function contextLimits(
  { contextTokens, outputTokens }: Pick<ModelInfo, 'contextTokens' | 'outputTokens'>,
  maxOutputTokens: number | null,
  { triggerPercent }: ContextSettings,
): ContextLimits {
  const output = Math.min(maxOutputTokens ?? outputTokens, outputTokens, LONGEST_OUTPUT);
  const room = contextTokens - Math.min(output, Math.floor(contextTokens / 2));
  return { room, trigger: Math.floor((room * triggerPercent) / 100) };
}
