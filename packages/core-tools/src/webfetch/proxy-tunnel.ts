import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { toolError } from '@agentd/contract';
import { basicAuthorization, splitCredentials } from './web-url.ts';

export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

const SOCKS_TYPES: Readonly<Record<string, 4 | 5>> = {
  'socks:': 5,
  'socks5:': 5,
  'socks5h:': 5,
  'socks4:': 4,
  'socks4a:': 4,
};

export function isSocksProxy(proxy: URL): boolean {
  return proxy.protocol in SOCKS_TYPES;
}

export function isHttpProxy(proxy: URL): boolean {
  return proxy.protocol === 'http:' || proxy.protocol === 'https:';
}

/** A connection to `target` through a proxy. The signal closes it at any time, also half made. */
export function openTunnel(proxy: URL, target: TunnelTarget, signal: AbortSignal): Promise<Duplex> {
  return isSocksProxy(proxy) ? openSocks(proxy, target, signal) : openConnect(proxy, target, signal);
}

export function proxyHeaders(proxy: URL): Readonly<Record<string, string>> {
  const { credentials } = splitCredentials(proxy);
  return credentials === null ? {} : { 'proxy-authorization': basicAuthorization(credentials) };
}

async function openConnect(proxy: URL, { host, port }: TunnelTarget, signal: AbortSignal): Promise<Duplex> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const send = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send({
    host: hostOf(proxy),
    port: proxy.port === '' ? undefined : proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    agent: false,
    signal,
  });
  request.end();
  const [response, socket] = (await once(request, 'connect')) as [{ statusCode: number }, Socket];
  if (response.statusCode === 200) return socket;
  socket.destroy();
  throw toolError('transport_error', `the proxy answered ${response.statusCode} to CONNECT ${authority}`);
}

async function openSocks(proxy: URL, { host, port }: TunnelTarget, signal: AbortSignal): Promise<Duplex> {
  const { SocksClient } = await import('socks');
  const { credentials } = splitCredentials(proxy);
  const address = { host: hostOf(proxy), port: proxy.port === '' ? 1080 : Number(proxy.port) };
  const socket = connect({ ...address, signal });
  await once(socket, 'connect');
  try {
    await SocksClient.createConnection({
      proxy: {
        ...address,
        type: SOCKS_TYPES[proxy.protocol] ?? 5,
        ...(credentials === null ? {} : { userId: credentials.user, password: credentials.password }),
      },
      command: 'connect',
      destination: { host, port },
      existing_socket: socket,
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return socket;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
