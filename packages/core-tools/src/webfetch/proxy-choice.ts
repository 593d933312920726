import { BlockList, isIP } from 'node:net';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The proxy that the environment names for an address, or null for a direct connection (WEB-9). */
export interface ProxyChoice {
  /** The variable it came from; safe to show, unlike its value. */
  readonly variable: string;
  /** Null when the value is no URL. */
  readonly proxy: URL | null;
}

export function chooseProxy(url: URL, environment: NodeJS.ProcessEnv): ProxyChoice | null {
  const scheme = url.protocol.slice(0, -1);
  const names = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, 'all_proxy', 'ALL_PROXY'];
  const variable = names.find((name) => environment[name] !== undefined);
  const value = variable === undefined ? '' : (environment[variable] ?? '').trim();
  // An empty variable switches the proxy off, as curl has it.
  if (variable === undefined || value === '') return null;
  const exceptions = environment['no_proxy'] ?? environment['NO_PROXY'] ?? '';
  if (isExcepted(url, exceptions)) return null;
  return { variable, proxy: URL.parse(value.includes('://') ? value : `http://${value}`) };
}

/** Whether `NO_PROXY` names the host: by name, by suffix, by address, by range, each with a port if it says so. */
function isExcepted(url: URL, exceptions: string): boolean {
  const host = bareHost(url.hostname);
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? '') : url.port;
  return exceptions
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInRange(host, entry);
  const [name, wantedPort] = splitPort(entry);
  if (wantedPort !== null && wantedPort !== port) return false;
  const suffix = bareHost(name.replace(/^\*?\./, ''));
  return suffix !== '' && (host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`)));
}

/** `[::1]:80` and `name:80` have a port; `::1` has none. */
function splitPort(entry: string): readonly [string, string | null] {
  const match = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry);
  return match === null ? [entry, null] : [match[1] ?? '', match[2] ?? null];
}

/** Without the brackets of IPv6 and without the final dot of a rooted name. */
function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function isInRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const ranges = new BlockList();
  ranges.addSubnet(network, Number(bits), type);
  return ranges.check(host, type);
}
