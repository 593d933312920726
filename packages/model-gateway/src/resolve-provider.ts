import type { Endpoint } from './adaptor.ts';
import { gatewayError } from './errors.ts';
import type { AdaptorId, ModelSettings, ProviderSettings } from './settings.ts';
import { WELL_KNOWN, type WellKnownProvider } from './well-known.ts';

export interface ProviderSources {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
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

const ANTHROPIC_URL = 'https://api.anthropic.com';

/** Puts settings, the well-known table and the environment together (CFG-5). Throws what a user must mend. */
export function resolveProvider(
  provider: string,
  { providers, environment }: ProviderSources,
): ResolvedProvider {
  const settings = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  const known = Object.hasOwn(WELL_KNOWN, provider) ? WELL_KNOWN[provider] : undefined;
  if (settings !== undefined) return fromSettings({ provider, settings, known }, environment);
  if (known === undefined) throw unknownProvider(provider, providers);
  const key = keyIn(known, environment);
  if (key === undefined) throw keyMissing(provider, known);
  return {
    kind: 'endpoint',
    adaptor: known.adaptor,
    endpoint: endpointOf(known, { baseUrl: known.baseUrl, apiKey: key.value, keyHint: key.name }),
    models: {},
  };
}

interface Configured {
  readonly provider: string;
  readonly settings: ProviderSettings;
  readonly known: WellKnownProvider | undefined;
}

function fromSettings(configured: Configured, environment: ProviderSources['environment']): ResolvedProvider {
  const { settings, provider } = configured;
  if (settings.adaptor !== 'scripted') {
    const endpoint = configuredEndpoint(configured, environment);
    return { kind: 'endpoint', adaptor: settings.adaptor, endpoint, models: settings.models ?? {} };
  }
  if (settings.script !== undefined) return { kind: 'script', script: settings.script };
  throw gatewayError(
    'GATEWAY_SETTINGS_INVALID',
    `[providers.${provider}] is scripted and needs script = "FILE.yaml"`,
  );
}

function configuredEndpoint(configured: Configured, environment: ProviderSources['environment']): Endpoint {
  const { provider, settings, known } = configured;
  const usual = known?.adaptor === settings.adaptor ? known : undefined;
  const baseUrl = settings.baseUrl ?? usual?.baseUrl ?? usualUrl(settings.adaptor);
  if (baseUrl === undefined || !isHttp(baseUrl)) throw badUrl(`[providers.${provider}]`, baseUrl);
  const key = keyOf({ provider, settings, known: usual }, environment);
  return endpointOf(usual, { ...key, baseUrl, headers: settings.headers });
}

function keyOf(
  { provider, settings, known }: Configured,
  environment: ProviderSources['environment'],
): Pick<Endpoint, 'apiKey' | 'keyHint'> {
  const keyHint = `api_key of [providers.${provider}]`;
  if (settings.apiKey) return { apiKey: settings.apiKey, keyHint };
  const none = { apiKey: undefined, keyHint: `${keyHint} (none is set)` };
  // The usual key is for the usual address only: another address gets what the settings say.
  if (known === undefined || settings.baseUrl !== undefined) return none;
  const usual = keyIn(known, environment);
  if (usual !== undefined) return { apiKey: usual.value, keyHint: usual.name };
  if (Object.keys(settings.headers ?? {}).length === 0) throw keyMissing(provider, known);
  return none;
}

function endpointOf(
  known: WellKnownProvider | undefined,
  { baseUrl, apiKey, keyHint, headers }: Omit<Endpoint, 'headers'> & Pick<ProviderSettings, 'headers'>,
): Endpoint {
  const trimmed = baseUrl.replace(/\/+$/, '');
  return {
    baseUrl: trimmed === ANTHROPIC_URL ? `${ANTHROPIC_URL}/v1` : trimmed,
    apiKey,
    headers: headers ?? {},
    keyHint,
    outputLimitField: known?.outputLimitField,
  };
}

function usualUrl(adaptor: AdaptorId): string | undefined {
  return adaptor === 'anthropic' ? `${ANTHROPIC_URL}/v1` : undefined;
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** The first usual variable of a provider that is set, and its value. */
export function keyIn(
  { keyVariables }: WellKnownProvider,
  environment: ProviderSources['environment'],
): { readonly name: string; readonly value: string } | undefined {
  for (const name of keyVariables) {
    const value = environment[name];
    if (value !== undefined && value !== '') return { name, value };
  }
  return undefined;
}

function keyMissing(provider: string, { keyVariables }: WellKnownProvider) {
  return gatewayError(
    'GATEWAY_KEY_MISSING',
    `provider ${JSON.stringify(provider)} has no key: set ${keyVariables.join(' or ')}, or api_key in [providers.${provider}]`,
  );
}

function unknownProvider(provider: string, providers: ProviderSources['providers']) {
  const ids = [...new Set([...Object.keys(providers), ...Object.keys(WELL_KNOWN)])];
  return gatewayError(
    'GATEWAY_PROVIDER_UNKNOWN',
    `no provider is called ${JSON.stringify(provider)}: use one of ${ids.join(', ')}, or add a table [providers.${provider}] with adaptor and base_url`,
  );
}

function badUrl(table: string, baseUrl: string | undefined) {
  const problem = baseUrl === undefined ? 'has no base_url' : 'has a base_url that is not an http(s) URL';
  return gatewayError(
    'GATEWAY_SETTINGS_INVALID',
    `${table} ${problem}: write e.g. base_url = "http://127.0.0.1:11434/v1"`,
  );
}
