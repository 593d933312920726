import { isJsonObject, type JsonObject, type JsonValue } from '@agentd/contract';

/** What a reference within the document points to; undefined for one that leads out of it or nowhere. */
export function resolveReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let place: JsonValue | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decoded(part);
    if (key === null) return undefined;
    if (Array.isArray(place)) place = (place as readonly JsonValue[])[Number(key)];
    else if (isJsonObject(place) && Object.hasOwn(place, key)) place = place[key];
    else return undefined;
  }
  return place;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}
