import { messageOf, type Clock, type ModelClient, type ModelInfo } from '@agentd/contract';
import type { Adaptor } from './adaptor.ts';
import type { MediaMemory } from './media/media-memory.ts';
import type { MediaPorts } from './media/media-ports.ts';
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
}

/** Loads the adaptor and makes a client. No request is made. */
export async function openProvider(
  { provider, model, resolved }: ProviderModel,
  { clock, fetch, media, memory }: OpenPorts,
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
    ...(known.media === undefined ? {} : { media: known.media }),
    ...(known.pricing === undefined ? {} : { pricing: known.pricing }),
  };
  const { open } = await load(adaptor);
  const outputLimitKnown = known.outputTokens !== undefined;
  return open({ info, outputLimitKnown, reasoning: known.reasoning, endpoint, clock, fetch, media, memory });
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
