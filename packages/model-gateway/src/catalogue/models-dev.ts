import { z } from 'zod';
import type { Modality } from '@agentd/contract';
import type { ModelSettings } from '../settings.ts';
import { WELL_KNOWN } from '../well-known.ts';
import type { ModelCatalogue } from './known-models.ts';

const MODALITIES: readonly Modality[] = ['text', 'image', 'pdf', 'audio', 'video'];

/** What models.dev calls a provider that is called otherwise here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  moonshot: 'moonshotai',
  together: 'togetherai',
  fireworks: 'fireworks-ai',
};

/** The shape that must be there; what is in it may be anything. */
const document = z.record(z.string(), z.unknown());
const provider = z.looseObject({ models: z.record(z.string(), z.unknown()) });

const tokens = z.number().int().positive().max(1e9).optional().catch(undefined);
const price = z.number().nonnegative().max(1e6).optional().catch(undefined);
const model = z.looseObject({
  modalities: z
    .looseObject({
      input: z.array(z.unknown()).optional().catch(undefined),
      output: z.array(z.unknown()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  limit: z.looseObject({ context: tokens, output: tokens }).optional().catch(undefined),
  cost: z
    .looseObject({ input: price, output: price, cache_read: price, cache_write: price })
    .optional()
    .catch(undefined),
});

/** See `readModelsDev`. */
export function catalogueOf(json: unknown, others: readonly string[]): ModelCatalogue | undefined {
  const parsed = document.safeParse(json);
  if (!parsed.success) return undefined;
  const ids = [...new Set([...Object.keys(WELL_KNOWN), ...others])];
  const found = ids.flatMap((id) => {
    const name = Object.hasOwn(OTHER_NAMES, id) ? (OTHER_NAMES[id] ?? id) : id;
    const table = Object.hasOwn(parsed.data, name) ? provider.safeParse(parsed.data[name]) : undefined;
    return table?.success === true ? [[id, modelsOf(table.data.models)] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function modelsOf(models: Readonly<Record<string, unknown>>): Record<string, ModelSettings> {
  const entries = Object.entries(models).flatMap(([id, value]) => {
    const parsed = model.safeParse(value);
    if (!parsed.success || !writesText(parsed.data)) return [];
    const facts = factsOf(parsed.data);
    return Object.keys(facts).length === 0 ? [] : [[id, facts] as const];
  });
  return Object.fromEntries(entries);
}

type Entry = z.output<typeof model>;

const writesText = ({ modalities }: Entry): boolean => modalities?.output?.includes('text') !== false;

function factsOf({ modalities, limit, cost }: Entry): ModelSettings {
  const input = MODALITIES.filter((kind) => modalities?.input?.includes(kind));
  const pricing = pricingOf(cost ?? {});
  return {
    ...(input.includes('text') ? { input } : {}),
    ...(limit?.context === undefined ? {} : { contextTokens: limit.context }),
    ...(limit?.output === undefined ? {} : { outputTokens: limit.output }),
    ...(pricing === undefined ? {} : { pricing }),
  };
}

function pricingOf({ input, output, cache_read, cache_write }: NonNullable<Entry['cost']>) {
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cache_read === undefined ? {} : { cacheRead: cache_read }),
    ...(cache_write === undefined ? {} : { cacheWrite: cache_write }),
  };
}
