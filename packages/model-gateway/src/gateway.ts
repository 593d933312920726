import type { Clock, ModelClient, ModelPricing } from '@agentd/contract';
import type { ModelCatalogue } from './catalogue/known-models.ts';
import { gatewayError } from './errors.ts';
import { MediaMemory } from './media/media-memory.ts';
import { withoutMedia, type MediaPorts } from './media/media-ports.ts';
import { openProvider } from './open-provider.ts';
import { listProviders, type ProviderListing } from './provider-list.ts';
import { credentialVariablesOf, hasUsualKey } from './provider-fields.ts';
import { resolveProvider, type ProviderSources } from './resolve-provider.ts';
import { ADAPTORS, type AdaptorId, type ProviderSettings } from './settings.ts';
import { openScripted, type ScriptAttempts } from './open-scripted.ts';
import { WELL_KNOWN } from './well-known.ts';

export interface ModelGatewayOptions {
  /** By provider id, every `${env:…}` already replaced. They replace a well-known provider of the same id. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** US dollars a million tokens, by `provider/model`; of providers without settings as well. */
  readonly pricing?: Readonly<Record<string, ModelPricing>>;
  /** What `readModelsDev` made of a newer catalogue. It wins over the built-in one, and settings win over it (CFG-5). */
  readonly catalogue?: ModelCatalogue;
  /** Where the usual key variables are looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Replaces the `fetch` of Node, e.g. for a proxy or for longer idle times. */
  readonly fetch?: typeof globalThis.fetch;
  /** Where the files of a history go, and where their bytes are; without it each is named in a note. */
  readonly media?: MediaPorts;
}

export interface ModelGateway {
  /** The adaptors that settings may name (CFG-6). */
  readonly adaptors: readonly AdaptorId[];
  /**
   * Opens `provider/model`, or `scripted:FILE.yaml`. Makes no request. Throws `GATEWAY_…` errors whose text says how
   * to mend the matter.
   */
  readonly open: (modelId: string) => Promise<ModelClient>;
  /** What is configured, then every well-known provider, with or without its key. */
  readonly list: () => readonly ProviderListing[];
  /** The model of a run that names none: that of the first well-known provider whose usual variable is set (CFG-4). */
  readonly defaultModel: () => string | undefined;
  /** Names of variables that usually hold keys of providers (BASH-2). */
  readonly credentialVariables: () => readonly string[];
}

const SCRIPT_PREFIX = 'scripted:';

/** A gateway to every model that settings and environment give access to. Loads no provider package before it opens one. */
export function createModelGateway(options: ModelGatewayOptions): ModelGateway {
  const { providers, environment, clock, fetch = globalThis.fetch, media = withoutMedia } = options;
  const { pricing = {}, catalogue = {} } = options;
  const sources: ProviderSources = { providers, environment, pricing, catalogue };
  const attempts: ScriptAttempts = new Map();
  const memories = new Map<string, MediaMemory>();

  const open = async (modelId: string): Promise<ModelClient> => {
    if (modelId.startsWith(SCRIPT_PREFIX)) {
      const file = modelId.slice(SCRIPT_PREFIX.length);
      return openScripted({ id: modelId, provider: 'scripted', model: file, file }, { clock, attempts });
    }
    const { provider, model } = parseModelId(modelId);
    const resolved = resolveProvider(provider, sources);
    if (resolved.kind === 'endpoint') {
      const memory = memories.get(modelId) ?? new MediaMemory();
      memories.set(modelId, memory);
      return openProvider({ provider, model, resolved }, { catalogue, clock, fetch, media, memory });
    }
    return openScripted({ id: modelId, provider, model, file: resolved.script }, { clock, attempts });
  };

  return {
    adaptors: ADAPTORS,
    open,
    list: () => listProviders(sources),
    defaultModel: () => {
      const found = Object.entries(WELL_KNOWN).find(
        ([, known]) => known.defaultModel !== undefined && hasUsualKey(known, environment),
      );
      return found === undefined ? undefined : `${found[0]}/${found[1].defaultModel}`;
    },
    credentialVariables: () =>
      [...new Set(Object.values(WELL_KNOWN).flatMap(credentialVariablesOf))].toSorted(),
  };
}

function parseModelId(modelId: string): { readonly provider: string; readonly model: string } {
  const slash = modelId.indexOf('/');
  const [provider, model] = [modelId.slice(0, slash), modelId.slice(slash + 1)];
  if (slash > 0 && model.trim() !== '') return { provider, model };
  throw gatewayError(
    'GATEWAY_MODEL_UNKNOWN',
    `${JSON.stringify(modelId)} names no model: write PROVIDER/MODEL, e.g. anthropic/${WELL_KNOWN['anthropic']?.defaultModel}, or scripted:FILE.yaml`,
  );
}
