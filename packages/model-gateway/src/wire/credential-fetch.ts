import { authHeaders, type Endpoint } from '../adaptor.ts';

/**
 * A `fetch` that puts the credential in itself. For packages that otherwise look for one in the environment, and for
 * servers without one: the header that the package writes is dropped.
 */
export function credentialFetch(fetch: typeof globalThis.fetch, endpoint: Endpoint): typeof globalThis.fetch {
  const own = authHeaders(endpoint);
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('authorization');
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
}
