// The class rather than `createAnthropic`: the package's main entry builds a default provider while it is imported,
// which reads the environment and throws where ANTHROPIC_BASE_URL is set and empty.
import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal';
import { isJsonObject, type JsonObject } from '@agentd/contract';
import type { Adaptor, Endpoint } from './adaptor.ts';
import { repairAnthropicEvents } from './wire/anthropic-repair.ts';
import { languageModelClient } from './wire/language-model-client.ts';
import { repairingFetch } from './wire/repairing-fetch.ts';

/** The version of the Messages API that the package writes. */
const API_VERSION = '2023-06-01';

/** Caches what comes before; five minutes is the provider's default. */
const CACHE_MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** The Messages API. */
export const anthropic: Adaptor = {
  open: (setup) => {
    const { endpoint, info } = setup;
    const model = new AnthropicLanguageModel(info.model, {
      provider: 'anthropic.messages',
      baseURL: endpoint.baseUrl,
      headers: headersOf(endpoint),
      fetch: repairingFetch(setup.fetch, { marker: '"tool_use"', repair: repairAnthropicEvents }),
      supportedUrls: () => ({}),
    });
    return languageModelClient(setup, {
      model,
      shape: {
        modelId: info.id,
        cacheMark: CACHE_MARK,
        replays: ({ provider_data }) => isSigned(provider_data),
      },
      needsOutputLimit: true,
    });
  },
};

function headersOf({ apiKey, headers }: Endpoint): Record<string, string> {
  return {
    'anthropic-version': API_VERSION,
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...headers,
  };
}

/** The API refuses thinking without the signature that it gave. */
function isSigned(data: JsonObject | undefined): boolean {
  const own = data?.['anthropic'];
  return (
    isJsonObject(own) && (typeof own['signature'] === 'string' || typeof own['redactedData'] === 'string')
  );
}
