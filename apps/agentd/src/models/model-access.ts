import type { MediaKind, ModelClient, ModelInfo } from '@agentd/contract';
import type { ModelFacts, ModelGateway, ProviderListing } from '@agentd/model-gateway';
import type { Settings } from '../config/settings.ts';
import { namesIn } from '../config/env-references.ts';
import { providerFault } from './provider-settings.ts';

/** What one file of a kind, and one request, may hold. */
export interface KindLimits {
  /** Raw bytes of one file. */
  readonly maxBytes: number;
  /** Files of the kind in one request. */
  readonly maxCount: number;
  /** Of one PDF. */
  readonly maxPages?: number;
}

/** What is known of a model, with the media that it takes and its API carries, within the limits of both. */
export interface ModelStatus extends Omit<ModelFacts, 'media'> {
  readonly media: Readonly<Partial<Record<MediaKind, KindLimits>>>;
}

/** A provider, and why it cannot be used; null when it can. */
export interface ProviderStatus extends Omit<ProviderListing, 'facts'> {
  readonly usable: string | null;
  /** By model. */
  readonly facts: Readonly<Record<string, ModelStatus>>;
}

/** Models as settings, environment and gateway give access to them. */
export interface ModelAccess {
  /** Contract: makes no request; throws one clear line for a model that cannot be used. */
  readonly open: (model: string) => Promise<ModelClient>;
  readonly list: () => readonly ProviderStatus[];
  readonly defaultModel: () => string | undefined;
  /** Variables that hold credentials: commands must not see them (BASH-2). */
  readonly credentialVariables: () => readonly string[];
}

export interface ModelAccessParts {
  readonly settings: Settings;
  readonly gateway: ModelGateway;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Limits of a kind of media, by model and API; null where the API does not carry it. */
  readonly limits: (model: Pick<ModelInfo, 'id' | 'family' | 'media'>, kind: MediaKind) => KindLimits | null;
}

/** A variable that is missing matters only to who uses the provider (CFG-4). */
export function modelAccessOf({ settings, gateway, environment, limits }: ModelAccessParts): ModelAccess {
  return {
    open: async (model) => {
      const fault = providerFault(model.split('/')[0] ?? '', settings, environment);
      if (fault !== null) throw fault;
      return gateway.open(model);
    },
    list: () =>
      gateway.list().map((listing) => ({
        ...listing,
        usable: unusable(listing, settings, environment),
        facts: statusOf(listing, limits),
      })),
    defaultModel: () => gateway.defaultModel(),
    credentialVariables: () => [
      ...new Set([...gateway.credentialVariables(), ...referredVariables(settings)]),
    ],
  };
}

function statusOf(
  { provider, adaptor: family, facts }: ProviderListing,
  limits: ModelAccessParts['limits'],
): ProviderStatus['facts'] {
  const entries = Object.entries(facts).map(([name, { media: own, ...known }]) => {
    const model = { id: `${provider}/${name}`, family, ...(own === undefined ? {} : { media: own }) };
    const media = known.input.flatMap((kind) => {
      const found = kind === 'text' ? null : limits(model, kind);
      return found === null ? [] : [[kind, found] as const];
    });
    return [name, { ...known, media: Object.fromEntries(media) }] as const;
  });
  return Object.fromEntries(entries);
}

function unusable(
  { provider, problem }: ProviderListing,
  settings: Settings,
  environment: ModelAccessParts['environment'],
): string | null {
  return providerFault(provider, settings, environment)?.message ?? problem;
}

/** Of providers and of MCP servers alike: a command must not see what either of them signs in with. */
function referredVariables({ providers, mcp }: Settings): readonly string[] {
  const tables = [...Object.values(providers), ...Object.values(mcp.servers)];
  return tables.flatMap((table) => textsIn(table).flatMap((text) => namesIn(text) ?? []));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
