import { EXIT } from '../../exit-codes.ts';
import { prepareHome } from '../../home/home.ts';
import { catalogueFile } from '../../models/catalogue-file.ts';
import { refreshCatalogue } from '../../models/refresh-catalogue.ts';
import { situate } from '../../situation.ts';
import { counted } from '../counted.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

export interface RefreshOptions extends PlaceOptions, DataOptions {
  readonly from?: string;
}

/** `models refresh`: renews what is known of models from the public catalogue, and keeps it in the home (CFG-5). */
export async function refreshModels(options: RefreshOptions, screen: Screen): Promise<number> {
  const { home, settings } = await situate(options);
  await prepareHome(home);
  const file = catalogueFile(home);
  const { source, fetchedAt, models } = await refreshCatalogue(
    {
      from: options.from ?? settings.catalogue.url,
      file,
      providers: Object.keys(settings.providers),
      environment: process.env,
      now: () => new Date(),
    },
    screen.closed,
  );
  const counts = {
    models: Object.values(models).reduce((sum, table) => sum + Object.keys(table).length, 0),
    providers: Object.keys(models).length,
  };
  if (options.json === true) {
    screen.print(`${JSON.stringify({ source, fetched_at: fetchedAt, file, ...counts }, null, 2)}\n`);
    return EXIT.completed;
  }
  const what = `${counted(counts.models, 'model')} of ${counted(counts.providers, 'provider')}`;
  screen.print(`${what} from ${source}, kept in ${file}\n`);
  return EXIT.completed;
}
