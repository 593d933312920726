import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';

/** Metadata stands in an event line; the engine refuses more than 256 KiB of it. */
const MAX_METADATA_CHARACTERS = 64 * 1024;
const MAX_DEPTH = 100;

/**
 * What structured content adds to the text of a result; null where a text block, or all blocks together, say the same.
 * Bytes that stand in a block are not written out again (MCP-5).
 */
export function structuredText(structured: JsonValue, blocks: readonly JsonValue[]): string | null {
  if (isRepeated(structured, blocks)) return null;
  const shown = withoutBytes(structured, bytesOf(blocks), MAX_DEPTH);
  return JSON.stringify(shown);
}

export function structuredMetadata(structured: JsonValue, blocks: readonly JsonValue[]): JsonObject {
  if (isRepeated(structured, blocks)) return {};
  const shown = withoutBytes(structured, bytesOf(blocks), MAX_DEPTH);
  const fits = JSON.stringify(shown).length <= MAX_METADATA_CHARACTERS;
  return fits ? { structured_content: shown } : { structured_content_omitted: true };
}

function isRepeated(structured: JsonValue, blocks: readonly JsonValue[]): boolean {
  const texts = blocks.flatMap((block) =>
    isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
      ? [block['text']]
      : [],
  );
  const canonical = canonicalJson(structured);
  if (texts.some((text) => isJsonOf(text, canonical))) return true;
  const values = isJsonObject(structured) ? Object.values(structured) : [];
  const [only, ...others] = values;
  if (only === undefined || others.length > 0) return false;
  // `{content: …}` and `{result: …}` are how typed servers wrap what the blocks say already.
  if (typeof only === 'string') return texts.some((text) => text === only) || texts.join('\n') === only;
  return (
    canonicalJson(only) === canonicalJson(blocks) || texts.some((text) => isJsonOf(text, canonicalJson(only)))
  );
}

function isJsonOf(text: string, canonical: string): boolean {
  const trimmed = text.trim();
  if (!/^[[{"\d\-tfn]/.test(trimmed)) return false;
  try {
    return canonicalJson(JSON.parse(trimmed) as JsonValue) === canonical;
  } catch {
    return false;
  }
}

function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isJsonObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function bytesOf(blocks: readonly JsonValue[]): ReadonlySet<string> {
  const found = blocks.flatMap((block) => {
    if (!isJsonObject(block)) return [];
    const { data, resource } = block;
    const blob = isJsonObject(resource) ? resource['blob'] : undefined;
    return [data, blob].filter((bytes) => typeof bytes === 'string');
  });
  return new Set(found);
}

function withoutBytes(value: JsonValue, bytes: ReadonlySet<string>, depth: number): JsonValue {
  if (typeof value === 'string') return bytes.has(value) && value !== '' ? '[attached]' : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[nested too deep]';
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item) => withoutBytes(item, bytes, depth - 1));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withoutBytes(member, bytes, depth - 1)]),
  );
}
