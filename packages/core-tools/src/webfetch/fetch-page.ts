import { toolError, type Clock } from '@agentd/contract';
import { CookieJar } from './cookie-jar.ts';
import { httpGet, type HttpAnswer } from './http-get.ts';
import { redirectTarget } from './redirect.ts';
import { basicAuthorization, splitCredentials, type WebAddress } from './web-url.ts';

export interface FetchPorts {
  /** Where the proxy variables are looked up: the daemon's environment (WEB-9). */
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
}

export interface FetchedPage {
  /** Where the last answer came from, without user name and password. */
  readonly url: URL;
  readonly answer: HttpAnswer;
}

const MAX_REDIRECTS = 10;

const ACCEPT = 'text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5';

/** Follows redirects to the answer that is none. Cookies and credentials stay with the origin they belong to (WEB-10, WEB-11). */
export async function fetchPage(start: URL, ports: FetchPorts, signal: AbortSignal): Promise<FetchedPage> {
  const cookies = new CookieJar();
  let address = splitCredentials(start);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const { url } = address;
    const headers = headersFor(address, cookies);
    const answer = await httpGet({ url, headers, environment: ports.environment }, signal);
    cookies.store(url, answer.headers['set-cookie'], ports.clock.now());
    const next = nextAddress(answer, address);
    if (next === null) return { url, answer };
    answer.close();
    address = next;
  }
  throw toolError(
    'redirect_error',
    `${splitCredentials(start).url.href} redirected more than ${MAX_REDIRECTS} times, the last time to ${address.url.href}; it may loop or ask for a login, so fetch another address`,
  );
}

function nextAddress(answer: HttpAnswer, from: WebAddress): WebAddress | null {
  try {
    const target = redirectTarget(answer.status, answer.headers.location, from.url);
    if (target === null) return null;
    const next = splitCredentials(target);
    if (next.credentials !== null || next.url.origin !== from.url.origin) return next;
    return { url: next.url, credentials: from.credentials };
  } catch (error) {
    answer.close();
    throw error;
  }
}

function headersFor({ url, credentials }: WebAddress, cookies: CookieJar): Readonly<Record<string, string>> {
  const cookie = cookies.headerFor(url);
  return {
    accept: ACCEPT,
    ...(credentials === null ? {} : { authorization: basicAuthorization(credentials) }),
    ...(cookie === null ? {} : { cookie }),
  };
}
