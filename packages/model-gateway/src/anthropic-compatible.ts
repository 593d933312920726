import type { Adaptor } from './adaptor.ts';
import { messagesClient } from './wire/messages-client.ts';

/** The Messages API as other servers speak it, e.g. MiniMax. */
export const anthropicCompatible: Adaptor = { open: (setup) => messagesClient(setup, { own: false }) };
