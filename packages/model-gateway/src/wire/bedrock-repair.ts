import { isJsonObject } from '@agentd/contract';
import type { FrameRepair } from './event-frames.ts';

/** Mends the start of a tool call in a Converse stream: a missing id becomes empty. */
export const repairBedrockEvents: FrameRepair = (payload) => {
  const start = payload['start'];
  const toolUse = isJsonObject(start) ? start['toolUse'] : undefined;
  if (!isJsonObject(start) || !isJsonObject(toolUse)) return undefined;
  const id = toolUse['toolUseId'];
  if (typeof id === 'string') return undefined;
  const toolUseId = typeof id === 'number' ? String(id) : '';
  return { ...payload, start: { ...start, toolUse: { ...toolUse, toolUseId } } };
};
