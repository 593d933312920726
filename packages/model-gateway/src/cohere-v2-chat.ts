import { createCohere } from '@ai-sdk/cohere';
import type { Adaptor } from './adaptor.ts';
import { cohereInput, repairCohereEvents } from './wire/cohere-repair.ts';
import { credentialFetch } from './wire/credential-fetch.ts';
import { languageModelClient } from './wire/language-model-client.ts';
import { repairingFetch } from './wire/repairing-fetch.ts';

/** Chat of Cohere, version 2. The package sends neither reasoning back nor the text of a turn that has calls. */
export const cohereV2Chat: Adaptor = {
  open: (setup) => {
    const { endpoint, info } = setup;
    const fetch = repairingFetch(setup.fetch, { marker: '"tool-call-', repair: repairCohereEvents });
    const provider = createCohere({
      baseURL: endpoint.baseUrl,
      apiKey: '',
      fetch: credentialFetch(fetch, endpoint),
    });
    return languageModelClient(setup, {
      model: provider(info.model),
      shape: { modelId: info.id, replays: () => false },
      needsOutputLimit: false,
      form: { inputOf: cohereInput },
    });
  },
};
