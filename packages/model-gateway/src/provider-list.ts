import { knownModelsOf } from './known-models.ts';
import { keyIn, type ProviderSources } from './resolve-provider.ts';
import type { AdaptorId, ProviderSettings } from './settings.ts';
import { WELL_KNOWN, type WellKnownProvider } from './well-known.ts';

/** One provider as `list` tells it. */
export interface ProviderListing {
  readonly provider: string;
  readonly adaptor: AdaptorId;
  /** Models that settings or the table of known models name; others may work as well. */
  readonly models: readonly string[];
  /** Whether requests would carry a key. A server of one's own may need none. */
  readonly hasKey: boolean;
  /** The usual key variables; empty for a provider that only settings know. */
  readonly keyVariables: readonly string[];
  readonly source: 'settings' | 'well-known';
}

/** What settings configure, in their order, then the well-known providers beside them. */
export function listProviders({ providers, environment }: ProviderSources): ProviderListing[] {
  const configured = Object.entries(providers).map(([provider, settings]) => ({
    ...fromSettings(provider, settings, environment),
    source: 'settings' as const,
  }));
  const beside = Object.entries(WELL_KNOWN)
    .filter(([provider]) => !Object.hasOwn(providers, provider))
    .map(([provider, known]) => ({
      provider,
      adaptor: known.adaptor,
      models: knownModelsOf(provider),
      hasKey: keyIn(known, environment) !== undefined,
      keyVariables: known.keyVariables,
      source: 'well-known' as const,
    }));
  return [...configured, ...beside];
}

function fromSettings(
  provider: string,
  { adaptor, apiKey, baseUrl, models = {} }: ProviderSettings,
  environment: ProviderSources['environment'],
): Omit<ProviderListing, 'source'> {
  const known: WellKnownProvider | undefined = Object.hasOwn(WELL_KNOWN, provider)
    ? WELL_KNOWN[provider]
    : undefined;
  const usual = baseUrl === undefined && known !== undefined && keyIn(known, environment) !== undefined;
  return {
    provider,
    adaptor,
    models: [...new Set([...Object.keys(models), ...knownModelsOf(provider)])],
    hasKey: (apiKey ?? '') !== '' || usual,
    keyVariables: known?.keyVariables ?? [],
  };
}
