import type { Adaptor } from './adaptor.ts';
import { azureAccess } from './wire/azure-access.ts';
import { chatClient } from './wire/openai-clients.ts';

/** Chat Completions of Azure OpenAI; models go by the names of their deployments. */
export const azureOpenaiChat: Adaptor = {
  open: (setup) => chatClient(setup, azureAccess(setup)),
};
