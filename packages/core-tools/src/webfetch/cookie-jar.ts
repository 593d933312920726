interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/**
 * The cookies of one fetch. Each stays with the origin that set it: stricter than a browser, where another port of
 * the same host would see it too.
 */
export class CookieJar {
  readonly #byOrigin = new Map<string, Cookie[]>();

  /** Takes what a response from `url` set; `now` in milliseconds since the epoch. */
  store(url: URL, headers: readonly string[] | undefined, now: number): void {
    for (const header of headers ?? []) this.#storeOne(url, header, now);
  }

  /** The `Cookie` header for a request to `url`, or null. */
  headerFor(url: URL): string | null {
    const cookies = (this.#byOrigin.get(url.origin) ?? []).filter(({ path }) => isUnder(url.pathname, path));
    return cookies.length === 0 ? null : cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  #storeOne(url: URL, header: string, now: number): void {
    const [pair = '', ...attributes] = header.split(';');
    const separator = pair.indexOf('=');
    const name = pair.slice(0, separator).trim();
    if (separator < 1 || name === '') return;
    const path = attribute(attributes, 'path');
    const cookie: Cookie = {
      name,
      value: pair.slice(separator + 1).trim(),
      path: path?.startsWith('/') === true ? path : folderOf(url.pathname),
    };
    const others = (this.#byOrigin.get(url.origin) ?? []).filter(
      (known) => known.name !== cookie.name || known.path !== cookie.path,
    );
    this.#byOrigin.set(url.origin, isExpired(attributes, now) ? others : [...others, cookie]);
  }
}

function attribute(attributes: readonly string[], wanted: string): string | undefined {
  const found = attributes.findLast((text) => text.split('=', 1)[0]?.trim().toLowerCase() === wanted);
  return found?.slice(found.indexOf('=') + 1).trim();
}

function isExpired(attributes: readonly string[], now: number): boolean {
  const maxAge = attribute(attributes, 'max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  const expires = attribute(attributes, 'expires');
  return expires !== undefined && Date.parse(expires) <= now;
}

function folderOf(pathname: string): string {
  return pathname.slice(0, Math.max(1, pathname.lastIndexOf('/')));
}

function isUnder(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}
