import type { Adaptor } from './adaptor.ts';
import { azureAccess } from './wire/azure-access.ts';
import { responsesClient } from './wire/openai-clients.ts';

/** The Responses API of Azure OpenAI; models go by the names of their deployments. */
export const azureOpenaiResponses: Adaptor = {
  open: (setup) => responsesClient(setup, azureAccess(setup)),
};
