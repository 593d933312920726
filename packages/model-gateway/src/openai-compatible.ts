import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { authHeaders, type Adaptor } from './adaptor.ts';
import { languageModelClient } from './wire/language-model-client.ts';
import { repairOpenaiEvents } from './wire/openai-repair.ts';
import { repairingFetch } from './wire/repairing-fetch.ts';

/** Chat Completions, as OpenAI and the many servers like it speak it. */
export const openaiCompatible: Adaptor = {
  open: (setup) => {
    const { endpoint, info } = setup;
    const provider = createOpenAICompatible({
      name: info.provider,
      baseURL: endpoint.baseUrl,
      headers: authHeaders(endpoint),
      fetch: repairingFetch(setup.fetch, { marker: '"tool_calls"', repair: repairOpenaiEvents }),
      includeUsage: true,
      transformRequestBody: (body) => renameLimit(body, endpoint.outputLimitField),
    });
    return languageModelClient(setup, {
      model: provider.chatModel(info.model),
      shape: { modelId: info.id, replays: () => true },
      needsOutputLimit: false,
    });
  },
};

function renameLimit(body: Record<string, unknown>, field: string | undefined): Record<string, unknown> {
  const { max_tokens: limit, ...rest } = body;
  return field === undefined || limit === undefined ? body : { ...rest, [field]: limit };
}
