import { authHeaders, type Adaptor } from './adaptor.ts';
import { geminiClient } from './wire/gemini-client.ts';
import { defaultCredentials } from './wire/google-credentials.ts';

/** Gemini on Vertex AI: by key, by token, or by the Application Default Credentials of Google Cloud. */
export const googleVertexGemini: Adaptor = {
  open: (setup) => {
    const { credential } = setup.endpoint;
    const fixed = authHeaders(setup.endpoint, (key) => ({ 'x-goog-api-key': key }));
    const token = credential?.kind === 'google' ? defaultCredentials(credential.project) : undefined;
    const headers = async (): Promise<Record<string, string>> =>
      token === undefined ? fixed : { authorization: `Bearer ${await token()}`, ...fixed };
    return geminiClient(setup, { provider: 'google.vertex.chat', headers });
  },
};
