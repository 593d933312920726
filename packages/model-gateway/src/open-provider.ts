import { messageOf, type Clock, type ModelClient, type ModelInfo } from '@agentd/contract';
import type { Adaptor } from './adaptor.ts';
import { gatewayError } from './errors.ts';
import { GUESS, knownModel } from './known-models.ts';
import type { ResolvedProvider } from './resolve-provider.ts';
import type { AdaptorId } from './settings.ts';

export interface ProviderModel {
  readonly provider: string;
  readonly model: string;
  readonly resolved: Extract<ResolvedProvider, { readonly kind: 'endpoint' }>;
}

/** One lazy import an adaptor: nobody pays for a provider package that is not used. */
const LOADERS: Readonly<Record<Exclude<AdaptorId, 'scripted'>, () => Promise<Adaptor>>> = {
  anthropic: async () => (await import('./anthropic.ts')).anthropic,
  'openai-compatible': async () => (await import('./openai-compatible.ts')).openaiCompatible,
};

/** Loads the adaptor and makes a client. No request is made. */
export async function openProvider(
  { provider, model, resolved }: ProviderModel,
  { clock, fetch }: { readonly clock: Clock; readonly fetch: typeof globalThis.fetch },
): Promise<ModelClient> {
  const { adaptor, endpoint, models } = resolved;
  const known = {
    ...knownModel(provider, model),
    ...(Object.hasOwn(models, model) ? given(models[model]) : {}),
  };
  const info: ModelInfo = {
    id: `${provider}/${model}`,
    provider,
    model,
    family: adaptor,
    input: known.input ?? GUESS.input,
    toolCalling: true,
    contextTokens: known.contextTokens ?? GUESS.contextTokens,
    outputTokens: known.outputTokens ?? GUESS.outputTokens,
    ...(known.pricing === undefined ? {} : { pricing: known.pricing }),
  };
  const { open } = await load(adaptor);
  return open({ info, outputLimitKnown: known.outputTokens !== undefined, endpoint, clock, fetch });
}

async function load(adaptor: Exclude<AdaptorId, 'scripted'>): Promise<Adaptor> {
  try {
    return await LOADERS[adaptor]();
  } catch (thrown) {
    throw gatewayError(
      'GATEWAY_ADAPTOR_FAILED',
      `the adaptor ${adaptor} cannot be loaded: ${messageOf(thrown)}`,
      {
        cause: thrown,
      },
    );
  }
}

/** The fields that are really there, so that an absent one does not hide what the table knows. */
function given<Fields extends object>(fields: Fields | undefined): Partial<Fields> {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Fields>;
}
