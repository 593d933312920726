import { GoogleLanguageModel } from '@ai-sdk/google/internal';
import type { ModelClient } from '@agentd/contract';
import type { AdaptorSetup } from '../adaptor.ts';
import { languageModelClient } from './language-model-client.ts';

export interface GeminiAccess {
  /** The package tells the two apart by these names: ids of calls, and the key of provider data. */
  readonly provider: 'google.generative-ai' | 'google.vertex.chat';
  /** Asked for before each request: tokens expire. */
  readonly headers: () => Promise<Record<string, string>>;
}

/** A client for `generateContent`. Signatures of thoughts stand in the provider data of calls and texts. */
export function geminiClient(setup: AdaptorSetup, { provider, headers }: GeminiAccess): ModelClient {
  const { endpoint, info } = setup;
  let calls = 0;
  const model = new GoogleLanguageModel(info.model, {
    provider,
    baseURL: endpoint.baseUrl,
    headers,
    fetch: setup.fetch,
    // Names a call for which the server has no id; whoever stores it gives it a lasting one (field I4).
    generateId: () => `call_${calls++}`,
    supportedUrls: () => ({}),
  });
  return languageModelClient(setup, {
    model,
    shape: { modelId: info.id, replays: () => true },
    needsOutputLimit: false,
  });
}
