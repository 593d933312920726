import { timingSafeEqual, createHash } from 'node:crypto';

export interface RequestHead {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly authorization?: string | undefined;
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Why a request must not be served, or null. A page in a browser can reach a loopback port under a name of its own (DNS
 * rebinding): then `Host` tells that name. A page under any other address tells it as `Origin`. The port is free, so that
 * a tunnel works.
 */
export function refusalOf(
  { host, origin, authorization }: RequestHead,
  token: string | null,
): Refusal | null {
  if (!isLoopback(`http://${host ?? ''}`))
    return { status: 403, message: 'the Host header must name this machine: localhost, 127.0.0.1 or [::1]' };
  if (origin !== undefined && !isLoopback(origin))
    return { status: 403, message: 'the Origin header names another site than this machine' };
  if (token !== null && !isSame(authorization ?? '', `Bearer ${token}`))
    return {
      status: 401,
      message: 'the Authorization header must carry the bearer token of AGENTD_MCP_TOKEN',
    };
  return null;
}

function isLoopback(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && LOOPBACK_NAMES.has(url.hostname);
}

/** Takes the same time wherever the two differ. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
