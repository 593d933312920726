import { cutBody, watchedBody } from '../sdk/answer-body.ts';

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Metadata, registrations and tokens are a page of text. */
const MAX_DOCUMENT_BYTES = 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_HOPS = 5;

/**
 * Fetches from an authorization server, which a stranger named (MCP-6): what it sends is bounded, and it gets no longer
 * than `signal` lets it.
 */
export function strangerFetch(signal: AbortSignal): Fetch {
  return async (input, init = {}) => {
    const signals = [signal, ...(init.signal ? [init.signal] : [])];
    return shortResponse(await fetch(input, { ...init, signal: AbortSignal.any(signals) }));
  };
}

/** An answer with a body of no more than a page of text. */
function shortResponse(response: Response): Response {
  const { body, status, headers } = response;
  // Of a redirect only the head is read, and its own address with it.
  if (body === null || (status >= 300 && status < 400)) return response;
  const terms = { id: null, isEventStream: false, maxBytes: MAX_DOCUMENT_BYTES };
  const short = response.ok ? watchedBody(body, terms) : cutBody(body, MAX_ERROR_BYTES);
  return new Response(short, { status, headers });
}

/** The body of an error as far as anybody reads it. */
export function shortError(response: Response): Response {
  return response.ok ? response : shortResponse(response);
}

/** Follows redirects within the origin alone: headers that the user configured are for nobody else. */
export async function fetchWithinOrigin(address: string, init: RequestInit): Promise<Response> {
  let url = new URL(address);
  for (let hops = 0; ; hops += 1) {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    const next = isRedirect ? URL.parse(location, url.href) : null;
    if (next === null || next.origin !== url.origin || hops === MAX_HOPS) return response;
    await response.body?.cancel();
    url = next;
  }
}
