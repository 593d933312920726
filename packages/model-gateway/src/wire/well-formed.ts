import type { JsonValue } from '@agentd/contract';

/** Half a surrogate pair, as a cut in the middle of an emoji leaves it, makes providers refuse the whole request. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** The same for every text in a value, names included. */
export function wellFormedValue<Value extends JsonValue>(value: Value): Value;
export function wellFormedValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => wellFormedValue(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([name, item]) => [wellFormed(name), wellFormedValue(item)] as const,
  );
  return Object.fromEntries(entries);
}
