import { toolError } from '@agentd/contract';

/** A user name and password as they go into a Basic header: decoded. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface WebAddress {
  /** Without user name and password. */
  readonly url: URL;
  readonly credentials: Credentials | null;
}

/** The address that a model asked for (WEB-2). Throws `invalid_url`. */
export function parseWebUrl(given: string): URL {
  if (!hasWebPrefix(given)) throw toolError('invalid_url', prefixProblem(given));
  // A URL parser drops these silently, and the address would no longer be the one that was permitted.
  if (hasControlCharacter(given) || !given.isWellFormed()) {
    throw toolError(
      'invalid_url',
      `${shown(given)} holds control characters or broken text; send it without`,
    );
  }
  const url = URL.parse(given);
  if (url === null)
    throw toolError('invalid_url', `${shown(given)} is not a valid URL; check its host and port`);
  return url;
}

/** Takes user name and password out of an address, percent-decoded. */
export function splitCredentials(address: URL): WebAddress {
  const url = withoutCredentials(address);
  const { username, password } = address;
  if (username === '' && password === '') return { url, credentials: null };
  return { url, credentials: { user: decoded(username), password: decoded(password) } };
}

export function basicAuthorization({ user, password }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** An address that may be shown: no user name, no password. */
export function withoutCredentials(address: URL): URL {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url;
}

function hasWebPrefix(given: string): boolean {
  return given.startsWith('http://') || given.startsWith('https://');
}

function prefixProblem(given: string): string {
  const expected = 'the URL must start with lowercase http:// or https://';
  const scheme = /^https?:\/\//i.exec(given)?.[0];
  if (scheme === undefined) return `${shown(given)} cannot be fetched: ${expected}`;
  return `${expected}; send ${shown(scheme.toLowerCase() + given.slice(scheme.length))}`;
}

function hasControlCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return /[\u0000-\u001f\u007f]/.test(text);
}

/** Text with a stray "%" stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const LONGEST_SHOWN = 200;

function shown(text: string): string {
  return JSON.stringify(
    text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text,
  ).toWellFormed();
}
