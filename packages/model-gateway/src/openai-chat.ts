import { authHeaders, type Adaptor } from './adaptor.ts';
import { chatClient } from './wire/openai-clients.ts';

/** Chat Completions of OpenAI itself. */
export const openaiChat: Adaptor = {
  open: (setup) =>
    chatClient(setup, {
      host: 'openai',
      headers: authHeaders(setup.endpoint),
      url: (path) => `${setup.endpoint.baseUrl}${path}`,
    }),
};
