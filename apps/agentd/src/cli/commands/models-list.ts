import type { FactSource } from '@agentd/model-gateway';
import { modelAccess } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { catalogueFile, readCatalogue } from '../../models/catalogue-file.ts';
import { situate } from '../../situation.ts';
import { counted } from '../counted.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import { printable } from '../printable.ts';
import { printRows } from '../print-rows.ts';
import type { ModelStatus, ProviderStatus } from '../../models/model-access.ts';
import type { Screen } from '../screen.ts';

/**
 * `models list`: providers, whether each can be used, and of those that can the models that are known: what each takes,
 * its window and longest answer, its prices, and where each of it is known from. Asks no server.
 */
export async function listModels(options: PlaceOptions & DataOptions, screen: Screen): Promise<number> {
  const situation = await situate(options);
  if (situation.skipped !== null) screen.tell(situation.skipped);
  const access = modelAccess(situation.settings);
  const chosen = situation.settings.model ?? access.defaultModel() ?? null;
  const providers = access.list();
  const refreshed = await readCatalogue(catalogueFile(situation.home));
  if (options.json === true) {
    const catalogue =
      refreshed === null ? null : { source: refreshed.source, fetched_at: refreshed.fetchedAt };
    screen.print(`${JSON.stringify({ default: chosen, catalogue, providers }, null, 2)}\n`);
    return EXIT.completed;
  }
  for (const row of providers) tell(row, screen);
  if (refreshed !== null)
    screen.print(`refreshed: ${refreshed.fetchedAt} from ${printable(refreshed.source)}\n`);
  screen.print(`default: ${chosen ?? 'none'}\n`);
  return EXIT.completed;
}

function tell(row: ProviderStatus, screen: Screen): void {
  const isShown = row.usable === null || row.source === 'settings';
  const rest = isShown || row.models.length === 0 ? [] : [`${counted(row.models.length, 'model')} known`];
  printRows(screen, [[row.provider.padEnd(14), row.adaptor.padEnd(22), stateOf(row), ...rest]]);
  if (!isShown) return;
  const rows = Object.entries(row.facts).map(([model, facts]) => [
    `  ${model}`,
    mediaText(facts),
    tokensText(facts),
    priceText(facts),
    sourceText(facts),
  ]);
  if (rows.length > 0) printRows(screen, rows);
}

/** In a table, the name of what is missing says enough. */
function stateOf({ usable, source, hasKey, keyVariables }: ProviderStatus): string {
  if (usable === null) return 'ready';
  return source === 'well-known' && !hasKey ? `needs ${keyVariables.join(' or ')}` : usable;
}

const MIB = 1024 * 1024;

/** `image 7.5 MiB x20, pdf 20 MiB x5 of 100 pages`: the largest file of each kind, and how many in a request. */
function mediaText({ media }: ModelStatus): string {
  const kinds = Object.entries(media).map(([kind, { maxBytes, maxCount, maxPages }]) => {
    const size = maxBytes < MIB / 10 ? `${maxBytes} B` : `${Number((maxBytes / MIB).toFixed(2))} MiB`;
    const pages = maxPages === undefined ? '' : ` of ${counted(maxPages, 'page')}`;
    return `${kind} ${size} x${maxCount}${pages}`;
  });
  return kinds.length === 0 ? 'text alone' : kinds.join(', ');
}

const tokensText = ({ contextTokens, outputTokens }: ModelStatus): string =>
  `${contextTokens} in all, ${outputTokens} out`;

/** US dollars a million tokens. */
function priceText({ pricing }: ModelStatus): string {
  if (pricing === undefined) return 'no price';
  const { input, output, cacheRead, cacheWrite, longPrompt } = pricing;
  const cached = cacheRead === undefined ? [] : [`$${cacheRead} read`];
  const written = cacheWrite === undefined ? [] : [`$${cacheWrite} written`];
  const long =
    longPrompt === undefined
      ? []
      : [`x${longPrompt.inputFactor} and x${longPrompt.outputFactor} over ${longPrompt.overTokens}`];
  return [`$${input} in`, `$${output} out`, ...cached, ...written, ...long].join(', ');
}

const NAMES: Readonly<Record<keyof ModelStatus['from'], string>> = {
  input: 'input',
  contextTokens: 'context',
  outputTokens: 'output',
  pricing: 'prices',
  media: 'media',
};

/** `built-in`, or `settings: input, context; guess: output`. */
function sourceText({ from }: ModelStatus): string {
  const byName = Object.entries(from) as [keyof typeof from, FactSource][];
  const sources = [...new Set(byName.map(([, source]) => source))];
  if (sources.length === 1) return sources.join('');
  const namesFrom = (source: FactSource): string =>
    byName.flatMap(([name, found]) => (found === source ? [NAMES[name]] : [])).join(', ');
  return sources.map((source) => `${source}: ${namesFrom(source)}`).join('; ');
}
