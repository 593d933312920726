import { authHeaders, type Adaptor } from './adaptor.ts';
import { responsesClient } from './wire/openai-clients.ts';

/** The Responses API of OpenAI. */
export const openaiResponses: Adaptor = {
  open: (setup) =>
    responsesClient(setup, {
      host: 'openai',
      headers: authHeaders(setup.endpoint),
      url: (path) => `${setup.endpoint.baseUrl}${path}`,
    }),
};
