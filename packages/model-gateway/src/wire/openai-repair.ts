import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';
import type { EventRepair } from './repairing-fetch.ts';

/**
 * Mends tool calls in Chat Completions chunks: a missing `index` is given (a named delta begins a call, an unnamed one
 * goes on), ids become strings, arguments that came as an object become the text that they should have been.
 */
export function repairOpenaiEvents(): EventRepair {
  const numbering = new CallNumbering();
  return (event) => {
    const choices = event['choices'];
    if (!Array.isArray(choices)) return undefined;
    return { ...event, choices: choices.map((choice) => mendChoice(choice, numbering)) };
  };
}

function mendChoice(choice: JsonValue, numbering: CallNumbering): JsonValue {
  if (!isJsonObject(choice)) return choice;
  const delta = choice['delta'];
  if (!isJsonObject(delta)) return choice;
  const calls = delta['tool_calls'];
  if (!Array.isArray(calls)) return choice;
  const mended = calls.filter(isJsonObject).map((call) => mendCall(call, numbering));
  return { ...choice, delta: { ...delta, tool_calls: mended } };
}

function mendCall(call: JsonObject, numbering: CallNumbering): JsonObject {
  const id = typeof call['id'] === 'number' ? String(call['id']) : (call['id'] ?? null);
  const named = isJsonObject(call['function']) ? call['function'] : {};
  const given = named['arguments'];
  const args = typeof given === 'object' && given !== null ? JSON.stringify(given) : (given ?? null);
  const index = numbering.indexOf(call['index'], textOrNull(id), textOrNull(named['name']));
  return { ...call, index, id, function: { ...named, arguments: args } };
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Which call a delta belongs to, where the server does not say. */
class CallNumbering {
  readonly #byId = new Map<string, number>();
  #highest = -1;
  #last = 0;

  indexOf(given: JsonValue | undefined, id: string | null, name: string | null): number {
    const index = typeof given === 'number' ? given : this.#inferred(id, name);
    if (id !== null) this.#byId.set(id, index);
    this.#highest = Math.max(this.#highest, index);
    this.#last = index;
    return index;
  }

  #inferred(id: string | null, name: string | null): number {
    const known = id === null ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    return id !== null || name !== null ? this.#highest + 1 : this.#last;
  }
}
