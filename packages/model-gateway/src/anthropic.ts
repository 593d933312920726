import type { Adaptor } from './adaptor.ts';
import { messagesClient } from './wire/messages-client.ts';

/** The Messages API of Anthropic. */
export const anthropic: Adaptor = { open: (setup) => messagesClient(setup, { own: true }) };
