import { readModelsDev } from '@agentd/model-gateway';
import { setUpError } from '../faults.ts';
import { writeCatalogue, type StoredCatalogue } from './catalogue-file.ts';
import { fetchCatalogue, shown } from './fetch-catalogue.ts';

export interface RefreshRequest {
  /** An address, or a file. */
  readonly from: string;
  /** Where the result is kept. */
  readonly file: string;
  /** Providers beside the well-known ones. */
  readonly providers: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
}

/** Fetches the public catalogue and keeps what it says of providers that are known here (CFG-5). */
export async function refreshCatalogue(
  { from, file, providers, environment, now }: RefreshRequest,
  signal: AbortSignal,
): Promise<StoredCatalogue> {
  const models = await readModelsDev(await fetchCatalogue(from, environment, signal), providers);
  if (models === undefined || Object.values(models).every((table) => Object.keys(table).length === 0)) {
    throw setUpError(
      `${shown(from)} is no catalogue of models: it names no model of a provider that is known here`,
    );
  }
  const stored = { source: shown(from), fetchedAt: now().toISOString(), models };
  await writeCatalogue(file, stored);
  return stored;
}
