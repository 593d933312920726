import { authHeaders, type Adaptor } from './adaptor.ts';
import { geminiClient } from './wire/gemini-client.ts';

/** The Gemini API of Google AI Studio. */
export const googleGemini: Adaptor = {
  open: (setup) => {
    const headers = authHeaders(setup.endpoint, (key) => ({ 'x-goog-api-key': key }));
    return geminiClient(setup, { provider: 'google.generative-ai', headers: async () => headers });
  },
};
