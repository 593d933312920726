import type { MediaKind, ModelClient, ModelInfo } from '@agentd/contract';
import type { ModelGateway, ProviderListing } from '@agentd/model-gateway';
import type { Settings } from '../config/settings.ts';
import { namesIn } from '../config/env-references.ts';
import { providerFault } from './provider-settings.ts';

/** A provider, and why it cannot be used; null when it can. */
export interface ProviderStatus extends ProviderListing {
  readonly usable: string | null;
  /** By model: the media that it takes and its API carries. */
  readonly media: Readonly<Record<string, readonly MediaKind[]>>;
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
  /** Whether the API of a model carries a kind of media. */
  readonly carries: (model: Pick<ModelInfo, 'id' | 'family'>, kind: MediaKind) => boolean;
}

/** A variable that is missing matters only to who uses the provider (CFG-4). */
export function modelAccessOf({ settings, gateway, environment, carries }: ModelAccessParts): ModelAccess {
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
        media: mediaOf(listing, carries),
      })),
    defaultModel: () => gateway.defaultModel(),
    credentialVariables: () => [
      ...new Set([...gateway.credentialVariables(), ...referredVariables(settings)]),
    ],
  };
}

function mediaOf(
  { provider, adaptor: family, inputs }: ProviderListing,
  carries: ModelAccessParts['carries'],
): ProviderStatus['media'] {
  const entries = Object.entries(inputs).map(([model, input]) => {
    const taken = input.filter((kind) => kind !== 'text');
    return [model, taken.filter((kind) => carries({ id: `${provider}/${model}`, family }, kind))] as const;
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

function referredVariables({ providers }: Settings): readonly string[] {
  return Object.values(providers).flatMap(({ headers, ...table }) =>
    [...Object.values(table), ...Object.values(headers ?? {})].flatMap((value) =>
      typeof value === 'string' ? (namesIn(value) ?? []) : [],
    ),
  );
}
