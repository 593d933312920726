import type { ModelPricing } from '@agentd/contract';
import type { Endpoint } from './adaptor.ts';
import type { ModelCatalogue } from './catalogue/known-models.ts';
import { credentialOf, endpointOf } from './endpoints.ts';
import { gatewayError } from './errors.ts';
import { fieldsOf, type Environment, type Provider } from './provider-fields.ts';
import type { AdaptorId, ModelSettings, ProviderSettings } from './settings.ts';
import { WELL_KNOWN, wellKnown, type WellKnownProvider } from './well-known.ts';

export interface ProviderSources {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly environment: Environment;
  /** Prices that settings give, by `provider/model`. */
  readonly pricing: Readonly<Record<string, ModelPricing>>;
  /** What was refreshed. */
  readonly catalogue: ModelCatalogue;
}

/** A provider, ready to be opened. */
export type ResolvedProvider =
  | { readonly kind: 'script'; readonly script: string }
  | {
      readonly kind: 'endpoint';
      readonly adaptor: Exclude<AdaptorId, 'scripted'>;
      readonly endpoint: Endpoint;
      readonly models: Readonly<Record<string, ModelSettings>>;
    };

/** Puts settings, the well-known table and the environment together (CFG-5). Throws what a user must mend. */
export function resolveProvider(id: string, sources: ProviderSources): ResolvedProvider {
  const { providers, environment } = sources;
  const settings = Object.hasOwn(providers, id) ? providers[id] : undefined;
  const known = knownFor(id, settings);
  const adaptor = settings?.adaptor ?? known?.adaptors[0];
  if (adaptor === undefined) throw unknownProvider(id, providers);
  if (adaptor === 'scripted') return scriptOf(id, settings?.script);
  const endpoint = resolvedEndpoint({ id, settings, known }, adaptor, environment);
  return { kind: 'endpoint', adaptor, endpoint, models: modelSettings(id, sources) };
}

/** What settings say of the models of a provider, their prices among it. */
export function modelSettings(
  id: string,
  { providers, pricing }: Pick<ProviderSources, 'providers' | 'pricing'>,
): Readonly<Record<string, ModelSettings>> {
  const own = Object.hasOwn(providers, id) ? (providers[id]?.models ?? {}) : {};
  const prefix = `${id}/`;
  const priced = Object.entries(pricing).flatMap(([name, price]) => {
    if (!name.startsWith(prefix)) return [];
    const model = name.slice(prefix.length);
    return [[model, { ...(Object.hasOwn(own, model) ? own[model] : {}), pricing: price }] as const];
  });
  return { ...own, ...Object.fromEntries(priced) };
}

/** What the table knows helps settings only where they name an adaptor for the provider's own wire. */
function knownFor(id: string, settings: ProviderSettings | undefined): WellKnownProvider | undefined {
  const known = wellKnown(id);
  if (known === undefined || settings === undefined) return known;
  return known.adaptors.some((adaptor) => adaptor === settings.adaptor) ? known : undefined;
}

function resolvedEndpoint(
  provider: Provider,
  adaptor: Exclude<AdaptorId, 'scripted'>,
  environment: Environment,
): Endpoint {
  const { id, settings, known } = provider;
  const fields = fieldsOf(provider, environment);
  const headers = settings?.headers ?? {};
  const table = { hasTable: settings !== undefined, isKnown: known !== undefined };
  const request = { provider: id, adaptor, fields, headers, ...table };
  const credential = credentialOf(request);
  const needsKey = settings?.baseUrl === undefined && Object.keys(headers).length === 0;
  if (credential === undefined && known !== undefined && needsKey) throw keyMissing(id, known);
  const endpoint = endpointOf(request, credential);
  const limitField = adaptor === 'openai-compatible' ? known?.outputLimitField : undefined;
  return { ...endpoint, outputLimitField: limitField };
}

function scriptOf(id: string, script: string | undefined): ResolvedProvider {
  if (script !== undefined) return { kind: 'script', script };
  throw gatewayError(
    'GATEWAY_SETTINGS_INVALID',
    `[providers.${id}] is scripted and needs script = "FILE.yaml"`,
  );
}

function keyMissing(id: string, { keyVariables, otherWay }: WellKnownProvider) {
  const ways = otherWay === undefined ? keyVariables : [...keyVariables, otherWay];
  return gatewayError(
    'GATEWAY_KEY_MISSING',
    `provider ${JSON.stringify(id)} has no key: set ${ways.join(' or ')}, or api_key in [providers.${id}]`,
  );
}

function unknownProvider(provider: string, providers: ProviderSources['providers']) {
  const ids = [...new Set([...Object.keys(providers), ...Object.keys(WELL_KNOWN)])];
  return gatewayError(
    'GATEWAY_PROVIDER_UNKNOWN',
    `no provider is called ${JSON.stringify(provider)}: use one of ${ids.join(', ')}, or add a table [providers.${provider}] with adaptor and base_url`,
  );
}
