import type { ModelMediaLimits } from '@agentd/contract';
import type { PlatformSettings, ProviderSettings } from '@agentd/model-gateway';
import { PLATFORM_KEYS, PLATFORM_NAMES, type ProviderTable } from '../config/config-schema.ts';
import { expandReferences } from '../config/env-references.ts';
import type { Settings } from '../config/settings.ts';
import type { setUpError } from '../faults.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Why a provider cannot be used as it is configured: a missing variable; null when it can. */
export function providerFault(
  id: string,
  { providers }: Settings,
  environment: Environment,
): ReturnType<typeof setUpError> | null {
  const table = Object.hasOwn(providers, id) ? providers[id] : undefined;
  if (table === undefined) return null;
  try {
    expanded(id, table, environment);
    return null;
  } catch (error) {
    return error as ReturnType<typeof setUpError>;
  }
}

/** What the gateway is told. A provider whose variables are missing keeps its place, without what they would give (CFG-4). */
export function gatewayProviders(
  settings: Settings,
  environment: Environment,
): Readonly<Record<string, ProviderSettings>> {
  return Object.fromEntries(
    Object.entries(settings.providers).map(([id, table]) => {
      const values =
        providerFault(id, settings, environment) === null ? expanded(id, table, environment) : {};
      return [id, providerSettings(id, { table, values, settings })];
    }),
  );
}

type ReferringValues = Pick<ProviderSettings, 'baseUrl' | 'apiKey' | 'headers' | keyof PlatformSettings>;

function expanded(id: string, table: ProviderTable, environment: Environment): ReferringValues {
  const expand = (value: string): string => expandReferences(value, environment, `provider "${id}"`);
  const headers = Object.entries(table.headers ?? {}).map(([name, value]) => [name, expand(value)] as const);
  const platform = PLATFORM_NAMES.flatMap((key) => {
    const value = table[key];
    return value === undefined ? [] : [[PLATFORM_KEYS[key], expand(value)] as const];
  });
  return {
    ...Object.fromEntries(platform),
    baseUrl: table.base_url === undefined ? undefined : expand(table.base_url),
    apiKey: table.api_key === undefined ? undefined : expand(table.api_key),
    headers: Object.fromEntries(headers),
  };
}

interface ProviderParts {
  readonly table: ProviderTable;
  readonly values: ReferringValues;
  readonly settings: Settings;
}

function providerSettings(id: string, { table, values, settings }: ProviderParts): ProviderSettings {
  const named = new Set([...Object.keys(table.models ?? {}), ...pricedModels(id, settings)]);
  const models = [...named].map((model) => {
    const { input, context_tokens, output_tokens, reasoning, media } = table.models?.[model] ?? {};
    const price = settings.pricing[`${id}/${model}`];
    const pricing = price && {
      input: price.input,
      output: price.output,
      ...(price.cache_read === undefined ? {} : { cacheRead: price.cache_read }),
      ...(price.cache_write === undefined ? {} : { cacheWrite: price.cache_write }),
    };
    const settingsOfModel = {
      input,
      contextTokens: context_tokens,
      outputTokens: output_tokens,
      reasoning,
      media: media === undefined ? undefined : mediaLimits(media),
      pricing,
    };
    return [model, settingsOfModel] as const;
  });
  return {
    adaptor: table.adaptor,
    ...values,
    script: table.script,
    models: Object.fromEntries(models),
  };
}

type MediaTable = NonNullable<NonNullable<ProviderTable['models']>[string]['media']>;

/** Limits of media as the gateway takes them. */
function mediaLimits(table: MediaTable): ModelMediaLimits {
  const kinds = Object.entries(table).map(([kind, limits = {}]) => {
    const { max_bytes: maxBytes, max_count: maxCount, max_pages: maxPages } = limits;
    const given = Object.entries({ maxBytes, maxCount, maxPages }).filter(([, value]) => value !== undefined);
    return [kind, Object.fromEntries(given)] as const;
  });
  return Object.fromEntries(kinds);
}

function pricedModels(id: string, { pricing }: Settings): readonly string[] {
  const prefix = `${id}/`;
  return Object.keys(pricing)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}
