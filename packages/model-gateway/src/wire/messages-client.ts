// The class rather than `createAnthropic`: the package's main entry builds a default provider while it is imported,
// which reads the environment and throws where ANTHROPIC_BASE_URL is set and empty.
import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal';
import { isJsonObject, type JsonObject, type ModelClient } from '@agentd/contract';
import { authHeaders, type AdaptorSetup } from '../adaptor.ts';
import { repairAnthropicEvents } from './anthropic-repair.ts';
import { languageModelClient } from './language-model-client.ts';
import { repairingFetch } from './repairing-fetch.ts';

/** The version of the Messages API that the package writes. */
const API_VERSION = '2023-06-01';

/** Caches what comes before; five minutes is the provider's default. */
const CACHE_MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } };

type ClientConfig = ConstructorParameters<typeof AnthropicLanguageModel>[1];

/** Video as MiniMax takes it in a user turn (DEL-2); everything else the package converts itself. */
const convertMediaPart: ClientConfig['convertMediaPart'] = async ({ mediaType, data }) =>
  mediaType.startsWith('video/') && data.type === 'data' && typeof data.data === 'string'
    ? { type: 'video', source: { type: 'base64', media_type: mediaType, data: data.data } }
    : undefined;

/** What servers like Anthropic's need not know: features that the package asks for on its own. */
const PLAIN = { supportsStrictTools: false, supportsNativeStructuredOutput: false, convertMediaPart };

/** A client for the Messages API; `own` is Anthropic's server, others get nothing that only it knows. */
export function messagesClient(setup: AdaptorSetup, { own }: { readonly own: boolean }): ModelClient {
  const { endpoint, info } = setup;
  const headers = authHeaders(endpoint, (key) => ({ 'x-api-key': key }));
  const model = new AnthropicLanguageModel(info.model, {
    provider: 'anthropic.messages',
    baseURL: endpoint.baseUrl,
    headers: { 'anthropic-version': API_VERSION, ...headers },
    fetch: repairingFetch(setup.fetch, { marker: '"tool_use"', repair: repairAnthropicEvents }),
    supportedUrls: () => ({}),
    ...(own ? {} : PLAIN),
  });
  return languageModelClient(setup, {
    model,
    shape: {
      modelId: info.id,
      cacheMark: CACHE_MARK,
      replays: ({ provider_data }) => isSigned(provider_data),
      needsTools: true,
    },
    needsOutputLimit: true,
    ...(own ? {} : { providerOptions: { anthropic: { toolStreaming: false } } }),
  });
}

/** The API refuses thinking without the signature that it gave. */
function isSigned(data: JsonObject | undefined): boolean {
  const own = data?.['anthropic'];
  return (
    isJsonObject(own) && (typeof own['signature'] === 'string' || typeof own['redactedData'] === 'string')
  );
}
