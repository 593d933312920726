import { messageOf, type Modality } from '@agentd/contract';
import { GUESS, knownModel, knownModelsOf } from './known-models.ts';
import { hasCredential } from './provider-fields.ts';
import { resolveProvider, type ProviderSources } from './resolve-provider.ts';
import type { AdaptorId, ProviderSettings } from './settings.ts';
import { WELL_KNOWN, wellKnown, type WellKnownProvider } from './well-known.ts';

/** One provider as `list` tells it. */
export interface ProviderListing {
  readonly provider: string;
  readonly adaptor: AdaptorId;
  /** Models that settings or the table of known models name; others may work as well. */
  readonly models: readonly string[];
  /** What each of these takes, as far as settings or the table say. */
  readonly inputs: Readonly<Record<string, readonly Modality[]>>;
  /** Whether requests would carry a key. A server of one's own may need none. */
  readonly hasKey: boolean;
  /** The usual key variables; empty for a provider that only settings know. */
  readonly keyVariables: readonly string[];
  readonly source: 'settings' | 'well-known';
  /** What keeps its models from being opened, and how to mend it; null where nothing does. */
  readonly problem: string | null;
}

/** What settings configure, in their order, then the well-known providers beside them. */
export function listProviders(sources: ProviderSources): ProviderListing[] {
  const { providers } = sources;
  const configured = Object.entries(providers).map(([provider, settings]) => ({
    ...fromSettings(provider, settings),
    ...stateOf(provider, sources),
    source: 'settings' as const,
  }));
  const beside = Object.entries(WELL_KNOWN)
    .filter(([provider]) => !Object.hasOwn(providers, provider))
    .map(([provider, known]) => ({
      ...fromTable(provider, known),
      ...stateOf(provider, sources),
      source: 'well-known' as const,
    }));
  return [...configured, ...beside];
}

type Description = Omit<ProviderListing, 'source' | 'hasKey' | 'problem'>;

function fromTable(provider: string, { adaptors, keyVariables }: WellKnownProvider): Description {
  const models = knownModelsOf(provider);
  return { provider, adaptor: adaptors[0], models, inputs: inputsOf(provider, models), keyVariables };
}

function fromSettings(provider: string, { adaptor, models: configured = {} }: ProviderSettings): Description {
  const models = [...new Set([...Object.keys(configured), ...knownModelsOf(provider)])];
  return {
    provider,
    adaptor,
    models,
    inputs: inputsOf(provider, models, configured),
    keyVariables: wellKnown(provider)?.keyVariables ?? [],
  };
}

function inputsOf(
  provider: string,
  models: readonly string[],
  configured: NonNullable<ProviderSettings['models']> = {},
): ProviderListing['inputs'] {
  const inputOf = (model: string): readonly Modality[] => {
    const own = Object.hasOwn(configured, model) ? configured[model]?.input : undefined;
    return own ?? knownModel(provider, model).input ?? GUESS.input;
  };
  return Object.fromEntries(models.map((model) => [model, inputOf(model)]));
}

function stateOf(provider: string, sources: ProviderSources): Pick<ProviderListing, 'hasKey' | 'problem'> {
  try {
    const resolved = resolveProvider(provider, sources);
    const hasKey = resolved.kind === 'endpoint' && resolved.endpoint.credential !== undefined;
    return { hasKey, problem: null };
  } catch (thrown) {
    // A table that is wrong in itself has its own problem; a well-known provider may have its key and want more.
    const isKnownOnly = !Object.hasOwn(sources.providers, provider);
    const known = { id: provider, settings: undefined, known: wellKnown(provider) };
    return { hasKey: isKnownOnly && hasCredential(known, sources.environment), problem: messageOf(thrown) };
  }
}
