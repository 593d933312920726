import type { ModelMediaLimits, ModelPricing } from '@agentd/contract';
import type { ModelGatewayOptions, PlatformSettings, ProviderSettings } from '@agentd/model-gateway';
import {
  PLATFORM_KEYS,
  PLATFORM_NAMES,
  type PriceTable,
  type ProviderTable,
} from '../config/config-schema.ts';
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
export function gatewaySettings(
  settings: Settings,
  environment: Environment,
): Required<Pick<ModelGatewayOptions, 'providers' | 'pricing' | 'catalogue'>> {
  const providers = Object.entries(settings.providers).map(([id, table]) => {
    const values = providerFault(id, settings, environment) === null ? expanded(id, table, environment) : {};
    return [id, providerSettings(table, values)] as const;
  });
  const pricing = Object.entries(settings.pricing).map(
    ([model, price]) => [model, pricingOf(price)] as const,
  );
  return {
    providers: Object.fromEntries(providers),
    pricing: Object.fromEntries(pricing),
    catalogue: settings.refreshed,
  };
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

function providerSettings(table: ProviderTable, values: ReferringValues): ProviderSettings {
  const models = Object.entries(table.models ?? {}).map(
    ([model, { input, context_tokens, output_tokens, reasoning, media }]) => {
      const settingsOfModel = {
        input,
        contextTokens: context_tokens,
        outputTokens: output_tokens,
        reasoning,
        media: media === undefined ? undefined : mediaLimits(media),
      };
      return [model, settingsOfModel] as const;
    },
  );
  return { adaptor: table.adaptor, ...values, script: table.script, models: Object.fromEntries(models) };
}

function pricingOf({ input, output, cache_read, cache_write }: PriceTable): ModelPricing {
  return {
    input,
    output,
    ...(cache_read === undefined ? {} : { cacheRead: cache_read }),
    ...(cache_write === undefined ? {} : { cacheWrite: cache_write }),
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
