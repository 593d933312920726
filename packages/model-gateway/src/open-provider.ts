import { messageOf, type Clock, type ModelClient, type ModelInfo } from '@agentd/contract';
import type { Adaptor } from './adaptor.ts';
import type { MediaMemory } from './media/media-memory.ts';
import type { MediaPorts } from './media/media-ports.ts';
import { gatewayError } from './errors.ts';
import { modelFacts } from './catalogue/model-facts.ts';
import type { ModelCatalogue } from './catalogue/known-models.ts';
import type { ResolvedProvider } from './resolve-provider.ts';
import type { AdaptorId } from './settings.ts';
import { boundedFetch } from './wire/bounded-fetch.ts';

export interface ProviderModel {
  readonly provider: string;
  readonly model: string;
  readonly resolved: Extract<ResolvedProvider, { readonly kind: 'endpoint' }>;
}

/** One lazy import an adaptor: nobody pays for a provider package that is not used. */
const LOADERS: Readonly<Record<Exclude<AdaptorId, 'scripted'>, () => Promise<Adaptor>>> = {
  anthropic: async () => (await import('./anthropic.ts')).anthropic,
  'anthropic-compatible': async () => (await import('./anthropic-compatible.ts')).anthropicCompatible,
  'openai-responses': async () => (await import('./openai-responses.ts')).openaiResponses,
  'openai-chat': async () => (await import('./openai-chat.ts')).openaiChat,
  'openai-compatible': async () => (await import('./openai-compatible.ts')).openaiCompatible,
  'google-gemini': async () => (await import('./google-gemini.ts')).googleGemini,
  'google-vertex-gemini': async () => (await import('./google-vertex-gemini.ts')).googleVertexGemini,
  'aws-bedrock-converse': async () => (await import('./aws-bedrock-converse.ts')).awsBedrockConverse,
  'azure-openai-responses': async () => (await import('./azure-openai-responses.ts')).azureOpenaiResponses,
  'azure-openai-chat': async () => (await import('./azure-openai-chat.ts')).azureOpenaiChat,
  'cohere-v2-chat': async () => (await import('./cohere-v2-chat.ts')).cohereV2Chat,
};

interface OpenPorts {
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  readonly media: MediaPorts;
  readonly memory: MediaMemory;
  /** What was refreshed. */
  readonly catalogue: ModelCatalogue;
}

/** Loads the adaptor and makes a client. No request is made. */
export async function openProvider(
  { provider, model, resolved }: ProviderModel,
  { catalogue, clock, fetch, media, memory }: OpenPorts,
): Promise<ModelClient> {
  const { adaptor, endpoint, models } = resolved;
  const settings = Object.hasOwn(models, model) ? (models[model] ?? {}) : {};
  const { from, ...facts } = modelFacts(provider, model, { settings, refreshed: catalogue });
  const info: ModelInfo = {
    id: `${provider}/${model}`,
    provider,
    model,
    family: adaptor,
    toolCalling: true,
    ...facts,
  };
  const { open } = await load(adaptor);
  const outputLimitKnown = from.outputTokens !== 'guess';
  const { reasoning } = settings;
  const bounded = boundedFetch(fetch);
  return open({ info, outputLimitKnown, reasoning, endpoint, clock, fetch: bounded, media, memory });
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
