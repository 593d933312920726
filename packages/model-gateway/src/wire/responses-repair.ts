import { isJsonObject } from '@agentd/contract';
import type { EventRepair } from './repairing-fetch.ts';

/** Mends function calls in a Responses stream: a missing id becomes empty, arguments that came as an object become text. */
export function repairResponsesEvents(): EventRepair {
  return (event) => {
    const item = event['item'];
    if (!isJsonObject(item) || item['type'] !== 'function_call') return undefined;
    const { call_id: id, arguments: args, ...rest } = item;
    if (typeof id === 'string' && typeof args === 'string') return undefined;
    const text = typeof id === 'string' || typeof id === 'number' ? String(id) : '';
    const written = typeof args === 'string' ? args : JSON.stringify(args ?? '');
    return { ...event, item: { ...rest, call_id: text, arguments: args === undefined ? '' : written } };
  };
}
