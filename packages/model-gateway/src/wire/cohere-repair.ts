import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';
import type { EventRepair } from './repairing-fetch.ts';

/**
 * Mends tool calls in a Cohere stream. The package parses arguments and throws on those that are no JSON (field I13), so
 * they travel as a JSON text that holds what the model wrote; `cohereInput` takes it out again. A missing id becomes empty.
 */
export function repairCohereEvents(): EventRepair {
  let isOpen = false;
  return (event) => {
    switch (event['type']) {
      case 'tool-call-start':
        isOpen = true;
        return withCall(event, (call) => ({
          ...call,
          type: 'function',
          id: textOf(call['id']),
          function: { ...functionOf(call), arguments: `"${escaped(functionOf(call)['arguments'])}` },
        }));
      case 'tool-call-delta':
        return withCall(event, (call) => ({
          ...call,
          function: { ...functionOf(call), arguments: escaped(functionOf(call)['arguments']) },
        }));
      case 'tool-call-end': {
        const wasOpen = isOpen;
        isOpen = false;
        return wasOpen ? [closing(), event] : undefined;
      }
      default:
        return undefined;
    }
  };
}

/** What the model wrote as the arguments of a call. */
export function cohereInput(input: string): string {
  const written = JSON.parse(input) as JsonValue;
  return typeof written === 'string' ? written : input;
}

function withCall(event: JsonObject, mend: (call: JsonObject) => JsonObject): JsonObject | undefined {
  const delta = event['delta'];
  const message = isJsonObject(delta) ? delta['message'] : undefined;
  const call = isJsonObject(message) ? message['tool_calls'] : undefined;
  if (!isJsonObject(delta) || !isJsonObject(message) || !isJsonObject(call)) return undefined;
  return { ...event, delta: { ...delta, message: { ...message, tool_calls: mend(call) } } };
}

function closing(): JsonObject {
  return {
    type: 'tool-call-delta',
    delta: { message: { tool_calls: { function: { arguments: '"' } } } },
  };
}

function functionOf(call: JsonObject): JsonObject {
  return isJsonObject(call['function']) ? call['function'] : {};
}

/** The inside of a JSON text, so that pieces may be put together. */
function escaped(args: JsonValue | undefined): string {
  const text = typeof args === 'string' ? args : JSON.stringify(args ?? '');
  return args === undefined || args === null ? '' : JSON.stringify(text).slice(1, -1);
}

function textOf(id: JsonValue | undefined): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}
