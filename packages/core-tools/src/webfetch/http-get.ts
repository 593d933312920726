import { once } from 'node:events';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequestArgs,
  type IncomingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Readable, Duplex } from 'node:stream';
import { toolError } from '@agentd/contract';
import type { PlainResponse, RequestFunction } from 'got';
import { chooseProxy } from './proxy-choice.ts';
import { isHttpProxy, isSocksProxy, openTunnel, proxyHeaders, type TunnelTarget } from './proxy-tunnel.ts';
import { splitCredentials } from './web-url.ts';

export interface GetRequest {
  /** Without user name and password. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the proxy variables are looked up (WEB-9). */
  readonly environment: NodeJS.ProcessEnv;
}

/** An answer whose body has not been read. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As sent, with its content encoding. */
  readonly body: Readable;
  /** Closes the connection; what was not read is lost. Idempotent. */
  readonly close: () => void;
}

type RouteOptions = {
  readonly agent: { readonly http: HttpAgent; readonly https: HttpsAgent };
  readonly request?: RequestFunction;
};

/** One GET, on a connection of its own, with no redirect followed and nothing decoded. */
export async function httpGet(
  { url, headers, environment }: GetRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { default: got } = await import('got');
  const stream = got.stream(url, {
    headers: { 'user-agent': 'agentd', 'accept-encoding': 'gzip, deflate, br, zstd', ...headers },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    retry: { limit: 0 },
    signal,
    ...routeTo(url, environment, signal),
  });
  // An error while nobody reads must not become an uncaught one; whoever reads sees it all the same.
  stream.on('error', () => undefined);
  // Whoever listens for it owns the socket, and the HTTP client does.
  stream.on('upgrade', (_response: unknown, socket: Duplex) => {
    socket.destroy();
    stream.destroy(new Error('the server switched to another protocol (status 101), which nobody asked for'));
  });
  const [response] = (await once(stream, 'response')) as [PlainResponse];
  return {
    status: response.statusCode,
    headers: response.headers,
    body: stream,
    close: () => void stream.destroy(),
  };
}

function routeTo(url: URL, environment: NodeJS.ProcessEnv, signal: AbortSignal): RouteOptions {
  const choice = chooseProxy(url, environment);
  if (choice === null) return { agent: directAgents() };
  const { proxy, variable } = choice;
  if (proxy === null || !(isHttpProxy(proxy) || isSocksProxy(proxy))) {
    const expected = 'an http, https or socks URL such as http://proxy:3128';
    throw toolError('transport_error', `the environment variable ${variable} must hold ${expected}`);
  }
  return url.protocol === 'http:' && isHttpProxy(proxy)
    ? { agent: directAgents(), request: forwardRequest(proxy) }
    : { agent: tunnelAgents(proxy, signal) };
}

/** Of this request only: no connection outlives it. */
function directAgents(): RouteOptions['agent'] {
  return { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };
}

/** Plain HTTP through a proxy: the request goes to it, with the whole address as its target. */
function forwardRequest(proxy: URL): RequestFunction {
  const send = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  return (url, { headers, signal, method }, onResponse) =>
    send(
      splitCredentials(proxy).url,
      {
        method,
        path: url.href.slice(0, url.href.length - url.hash.length),
        headers: { ...headers, host: url.host, ...proxyHeaders(proxy) },
        agent: false,
        ...(signal === undefined ? {} : { signal }),
      },
      onResponse,
    );
}

/** Agents whose connections go through a tunnel. The signal closes a tunnel that is still being made. */
function tunnelAgents(proxy: URL, signal: AbortSignal): RouteOptions['agent'] {
  const agents = directAgents();
  agents.http.createConnection = (options, callback) => {
    const toTarget = (): Promise<Duplex> => openTunnel(proxy, targetOf(options), signal);
    void handOver(toTarget, callback);
    return undefined;
  };
  agents.https.createConnection = (options, callback) => {
    const secured = async (): Promise<Duplex> => {
      const socket = await openTunnel(proxy, targetOf(options), signal);
      return connectTls({ ...(options as ConnectionOptions), socket });
    };
    void handOver(secured, callback);
    return undefined;
  };
  return agents;
}

function targetOf({ host, port }: ClientRequestArgs): TunnelTarget {
  return { host: host ?? '', port: Number(port) };
}

type ConnectionCallback = (error: Error | null, socket: Duplex) => void;

async function handOver(
  open: () => Promise<Duplex>,
  callback: ConnectionCallback | undefined,
): Promise<void> {
  try {
    callback?.(null, await open());
  } catch (error) {
    callback?.(error as Error, undefined as never);
  }
}
