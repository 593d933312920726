import type { ModelCatalogue } from './known-models.ts';

/**
 * The facts that `https://models.dev/api.json` has of providers (CFG-5): the well-known ones, and `others` by their own
 * ids. Lenient: what is not as it should be is left out, fact by fact. Undefined where `json` is no such catalogue at all.
 */
export async function readModelsDev(
  json: unknown,
  others: readonly string[] = [],
): Promise<ModelCatalogue | undefined> {
  // The validator costs more to load than all the rest of this package; only a refresh needs it.
  const { catalogueOf } = await import('./models-dev.ts');
  return catalogueOf(json, others);
}
