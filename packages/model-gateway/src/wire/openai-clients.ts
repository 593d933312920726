// The classes rather than `createOpenAI`: nothing here reads the environment, and Azure needs no package of its own.
import { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal';
import { isJsonObject, type JsonObject, type ModelClient } from '@agentd/contract';
import type { AdaptorSetup } from '../adaptor.ts';
import { languageModelClient } from './language-model-client.ts';
import { repairOpenaiEvents } from './openai-repair.ts';
import { repairingFetch } from './repairing-fetch.ts';
import { repairResponsesEvents } from './responses-repair.ts';

/** How requests reach a server. */
export interface OpenaiAccess {
  readonly host: 'openai' | 'azure';
  readonly headers: Readonly<Record<string, string>>;
  readonly url: (path: string) => string;
}

/** Chat Completions of OpenAI and Azure. The wire has no reasoning to give back. */
export function chatClient(setup: AdaptorSetup, { host, headers, url }: OpenaiAccess): ModelClient {
  const { info, reasoning } = setup;
  const model = new OpenAIChatLanguageModel(info.model, {
    provider: `${host}.chat`,
    url: ({ path }) => url(path),
    headers: { ...headers },
    fetch: repairingFetch(setup.fetch, { marker: '"tool_calls"', repair: repairOpenaiEvents }),
  });
  return languageModelClient(setup, {
    model,
    shape: { modelId: info.id, replays: () => false, hasNoErrorFlag: true },
    needsOutputLimit: false,
    ...(reasoning === true ? { providerOptions: { openai: { forceReasoning: true } } } : {}),
  });
}

/**
 * Responses of OpenAI and Azure. Nothing is stored there (`store: false`): a log replays whole, reasoning as it came,
 * encrypted, and depends on no item that a server may have dropped.
 */
export function responsesClient(setup: AdaptorSetup, { host, headers, url }: OpenaiAccess): ModelClient {
  const { info, reasoning } = setup;
  const model = new OpenAIResponsesLanguageModel(info.model, {
    provider: `${host}.responses`,
    url: ({ path }) => url(path),
    headers: { ...headers },
    fetch: repairingFetch(setup.fetch, { marker: '"function_call"', repair: repairResponsesEvents }),
  });
  return languageModelClient(setup, {
    model,
    shape: {
      modelId: info.id,
      replays: ({ provider_data }) => isEncrypted(provider_data?.[host]),
      fileOptions: { [host]: { imageDetail: 'auto' } },
      hasNoErrorFlag: true,
    },
    needsOutputLimit: false,
    providerOptions: { [host]: { store: false, ...(reasoning === true ? { forceReasoning: true } : {}) } },
    form: { hasNoReasonWord: true },
  });
}

/** Without its encrypted content, reasoning is only a name that the server does not know. */
function isEncrypted(own: JsonObject[string] | undefined): boolean {
  return isJsonObject(own) && typeof own['reasoningEncryptedContent'] === 'string';
}
