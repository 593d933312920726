import { messageOf } from '@agentd/contract';
import { BUILT_IN } from './catalogue/known-models.ts';
import { modelFacts, type ModelFacts } from './catalogue/model-facts.ts';
import { hasCredential } from './provider-fields.ts';
import { modelSettings, resolveProvider, type ProviderSources } from './resolve-provider.ts';
import type { AdaptorId } from './settings.ts';
import { WELL_KNOWN, wellKnown } from './well-known.ts';

/** One provider as `list` tells it. */
export interface ProviderListing {
  readonly provider: string;
  readonly adaptor: AdaptorId;
  /** Models that settings or a catalogue name; others may work as well. */
  readonly models: readonly string[];
  /** What is known of each of these, and from where. */
  readonly facts: Readonly<Record<string, ModelFacts>>;
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
  const configured = Object.entries(providers).map(([provider, { adaptor }]) => ({
    provider,
    adaptor,
    ...modelsOf(provider, sources),
    keyVariables: wellKnown(provider)?.keyVariables ?? [],
    ...stateOf(provider, sources),
    source: 'settings' as const,
  }));
  const beside = Object.entries(WELL_KNOWN)
    .filter(([provider]) => !Object.hasOwn(providers, provider))
    .map(([provider, { adaptors, keyVariables }]) => ({
      provider,
      adaptor: adaptors[0],
      ...modelsOf(provider, sources),
      keyVariables,
      ...stateOf(provider, sources),
      source: 'well-known' as const,
    }));
  return [...configured, ...beside];
}

function modelsOf(
  provider: string,
  { catalogue, ...sources }: ProviderSources,
): Pick<ProviderListing, 'models' | 'facts'> {
  const settings = modelSettings(provider, sources);
  const tables = [settings, ...[catalogue, BUILT_IN].map((table) => own(table, provider) ?? {})];
  const models = [...new Set(tables.flatMap((table) => Object.keys(table)))];
  const facts = models.map((model) => {
    const known = { settings: own(settings, model) ?? {}, refreshed: catalogue };
    return [model, modelFacts(provider, model, known)] as const;
  });
  return { models, facts: Object.fromEntries(facts) };
}

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
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
