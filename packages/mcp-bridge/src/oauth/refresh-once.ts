import type { JsonObject } from '@agentd/contract';
import type { CredentialStore } from './credentials.ts';

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** The refresh token that a request to a token endpoint spends; null for any other request. */
export function spentRefreshToken(init: RequestInit | undefined): string | null {
  const { body } = init ?? {};
  if (!(body instanceof URLSearchParams) || body.get('grant_type') !== 'refresh_token') return null;
  return body.get('refresh_token');
}

interface RefreshParts {
  readonly fetch: Fetch;
  readonly store: CredentialStore;
  readonly key: string;
}

/**
 * Sends a refresh under the store's lock (MCP-6). Many servers take a refresh token once: of several that notice an
 * expired token at the same time, in this process or another, one refreshes, and the others get what it got.
 */
export async function refreshOnce(
  { fetch, store, key }: RefreshParts,
  { url, init, spent, stale }: { url: string | URL; init: RequestInit; spent: string; stale: unknown },
): Promise<Response> {
  let answer: Response | undefined;
  await store.update(key, async (before) => {
    const { tokens } = before;
    if (tokens !== undefined && (tokens['refresh_token'] !== spent || tokens['access_token'] !== stale)) {
      answer = Response.json(tokens);
      return before;
    }
    const response = await fetch(url, init);
    const text = await response.text();
    answer = new Response(text, { status: response.status, headers: response.headers });
    return response.ok ? { ...before, tokens: { ...tokens, ...asObject(text) } } : before;
  });
  if (answer === undefined) throw new Error('the credential store did not run its update');
  return answer;
}

function asObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
