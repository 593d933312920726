import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { codeOf, messageOf } from '@agentd/contract';
import { setUpError } from '../faults.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 30_000;

/** The public catalogue has about three million bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

const ADDRESS = /^https?:\/\//i;

/**
 * The JSON behind an address, or in a file: where there is no network, somebody may have brought one.
 * Contract: takes the proxies that the environment names; throws one clear line for anything that is not right.
 */
export async function fetchCatalogue(
  from: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<unknown> {
  const bytes = await bytesOf(from, environment, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw setUpError(
      `no catalogue of models came from ${shown(from)}: ${reasonOf(error)}; --from takes the address of a mirror, or a file`,
      { cause: error },
    );
  });
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw setUpError(`${shown(from)} is no catalogue of models: it is not JSON`, { cause: error });
  }
}

/** An address as it may be shown: without user name, password and query. */
export function shown(from: string): string {
  const url = ADDRESS.test(from) ? URL.parse(from) : null;
  return url === null ? from : `${url.origin}${url.pathname}`;
}

async function bytesOf(from: string, environment: Environment, signal: AbortSignal): Promise<Buffer> {
  return ADDRESS.test(from) ? download(new URL(from), environment, signal) : readFile(from, { signal });
}

async function download(url: URL, environment: Environment, signal: AbortSignal): Promise<Buffer> {
  const { default: got } = await import('got');
  const route = { keepAlive: false, proxyEnv: { ...environment } };
  const body = got.stream(url, {
    headers: { 'user-agent': 'agentd', accept: 'application/json' },
    retry: { limit: 0 },
    timeout: { request: TIMEOUT_MS },
    signal,
    agent: { http: new HttpAgent(route), https: new HttpsAgent(route) },
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const { response } = error as { readonly response?: { readonly statusCode?: number } };
  if (response?.statusCode !== undefined) return `the server answered ${response.statusCode}`;
  switch (codeOf(error)) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name was not found (is there a network?)';
    case 'ETIMEDOUT':
      return 'it took too long';
    case 'ENOENT':
      return 'there is no such file';
    default:
      return messageOf(error);
  }
}
