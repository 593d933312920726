import { isJsonObject } from '@agentd/contract';
import type { EventRepair } from './repairing-fetch.ts';

/** Mends the start of a tool call in a Messages stream: a missing id becomes empty, a `null` input goes. */
export function repairAnthropicEvents(): EventRepair {
  return (event) => {
    const block = event['content_block'];
    if (!isJsonObject(block) || block['type'] !== 'tool_use') return undefined;
    const { id, input, ...rest } = block;
    if (typeof id === 'string' && (input === undefined || isJsonObject(input))) return undefined;
    const text = typeof id === 'string' || typeof id === 'number' ? String(id) : '';
    return { ...event, content_block: { ...rest, id: text, ...(isJsonObject(input) ? { input } : {}) } };
  };
}
