import { modelAccess } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { situate } from '../../situation.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import type { ProviderStatus } from '../../models/model-access.ts';
import type { Screen } from '../screen.ts';

/** `models list`: providers, whether each can be used, and the models that are known of it. Asks no server. */
export async function listModels(options: PlaceOptions & DataOptions, screen: Screen): Promise<number> {
  const situation = await situate(options);
  if (situation.skipped !== null) screen.tell(situation.skipped);
  const access = modelAccess(situation.settings);
  const chosen = situation.settings.model ?? access.defaultModel() ?? null;
  const providers = access.list();
  if (options.json === true) {
    screen.print(`${JSON.stringify({ default: chosen, providers }, null, 2)}\n`);
    return EXIT.completed;
  }
  printRows(
    screen,
    providers.map((row) => [
      row.provider,
      row.adaptor,
      stateOf(row),
      row.models.map((model) => named(model, row)).join(', '),
    ]),
  );
  screen.print(`default: ${chosen ?? 'none'}\n`);
  return EXIT.completed;
}

/** `kimi-k2.6 [image video]`: a model, and the media that it can be given. */
function named(model: string, { media }: ProviderStatus): string {
  const kinds = media[model] ?? [];
  return kinds.length === 0 ? model : `${model} [${kinds.join(' ')}]`;
}

/** In a table, the name of what is missing says enough. */
function stateOf({ usable, source, hasKey, keyVariables }: ProviderStatus): string {
  if (usable === null) return 'ready';
  return source === 'well-known' && !hasKey ? `needs ${keyVariables.join(' or ')}` : usable;
}
