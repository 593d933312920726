import { isJsonObject, type JsonObject } from '@agentd/contract';

/** What a model wrote as the arguments of a call. `raw` is kept only where it is no JSON object (field I13). */
export interface ParsedArguments {
  readonly input: JsonObject;
  readonly raw?: string;
}

/** Deeper arguments are no real call, and would overflow the stack of whoever walks them later. */
export const MAX_ARGUMENT_DEPTH = 100;

/** JSON escapes can name half a surrogate pair, which no provider takes back. */
const SURROGATE_ESCAPE = /\\u[dD][89abAB]/;

/**
 * Reads the arguments of a call; text that is not one JSON object leaves `input` empty and is kept as `raw`.
 * Some providers send no text at all for a call without arguments: that is an empty object.
 */
export function parseArguments(text: string): ParsedArguments {
  const raw = text.toWellFormed();
  if (raw.trim() === '') return { input: {} };
  try {
    const value: unknown = SURROGATE_ESCAPE.test(raw) ? JSON.parse(raw, wellFormed) : JSON.parse(raw);
    return isJsonObject(value) && depthFits(value, MAX_ARGUMENT_DEPTH)
      ? { input: value }
      : { input: {}, raw };
  } catch {
    // JSON.parse throws nothing but SyntaxError: the model wrote no JSON.
    return { input: {}, raw };
  }
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function depthFits(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((child) => depthFits(child, left - 1));
}
