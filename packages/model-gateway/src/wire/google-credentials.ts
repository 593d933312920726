import { messageOf, modelError } from '@agentd/contract';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** Access tokens by the Application Default Credentials, kept until they expire. The library is loaded at first use. */
export function defaultCredentials(project: string): () => Promise<string> {
  let source: Promise<() => Promise<string | null | undefined>> | undefined;
  return async () => {
    source ??= tokenSource(project);
    try {
      const token = await (await source)();
      if (token) return token;
    } catch (thrown) {
      source = undefined;
      throw noToken(messageOf(thrown), thrown);
    }
    throw noToken('they give no token');
  };
}

async function tokenSource(project: string): Promise<() => Promise<string | null | undefined>> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({ scopes: [SCOPE], projectId: project });
  return () => auth.getAccessToken();
}

function noToken(reason: string, cause?: unknown) {
  const line = reason.replaceAll(/\s+/g, ' ').slice(0, 200);
  return modelError(
    'MODEL_AUTH',
    `the Application Default Credentials of Google Cloud do not work: ${line}; set GOOGLE_APPLICATION_CREDENTIALS, or an api_key or access_token`,
    { cause },
  );
}
