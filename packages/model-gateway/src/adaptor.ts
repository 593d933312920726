import type { Clock, ModelClient, ModelInfo } from '@agentd/contract';
import type { MediaMemory } from './media/media-memory.ts';
import type { MediaPorts } from './media/media-ports.ts';

/** What lets a request in. */
export type Credential =
  | { readonly kind: 'key'; readonly value: string }
  /** A bearer token. */
  | { readonly kind: 'token'; readonly value: string }
  /** Requests are signed (SigV4). */
  | {
      readonly kind: 'aws';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      readonly sessionToken: string | undefined;
    }
  /** Application Default Credentials of Google Cloud, looked up when the first request goes out. */
  | { readonly kind: 'google'; readonly project: string };

/** Where requests go, and with what. */
export interface Endpoint {
  readonly baseUrl: string;
  /** Undefined where nothing is sent beside the headers. */
  readonly credential: Credential | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Where a user would mend the credential, e.g. `OPENAI_API_KEY` or `api_key of [providers.local]`. */
  readonly keyHint: string;
  /** The request field for the longest answer, where it is not `max_tokens`. */
  readonly outputLimitField?: string | undefined;
  /** AWS region; always there with a credential that signs. */
  readonly region?: string | undefined;
  /** Azure: see `PlatformSettings`. */
  readonly apiVersion?: string | undefined;
}

/** All that an adaptor needs to make a client. */
export interface AdaptorSetup {
  readonly info: ModelInfo;
  /** Whether `info.outputTokens` is known; a guess is not sent where the wire can do without. */
  readonly outputLimitKnown: boolean;
  /** Whether the model reasons, where settings say so; a package that knows the model by its name needs no word. */
  readonly reasoning: boolean | undefined;
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  readonly media: MediaPorts;
  readonly memory: MediaMemory;
}

/** A module behind one lazy import. */
export interface Adaptor {
  /** Contract: makes no request. */
  readonly open: (setup: AdaptorSetup) => ModelClient;
}

/** The header that carries a key or a bearer token; configured headers win over it. */
export function authHeaders(
  { credential, headers }: Endpoint,
  keyHeader: (key: string) => Readonly<Record<string, string>> = bearer,
): Record<string, string> {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (credential?.kind === 'key') return { ...keyHeader(credential.value), ...own };
  if (credential?.kind === 'token') return { ...bearer(credential.value), ...own };
  return own;
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Every text of a credential that nobody may see. */
export function secretsIn(credential: Credential | undefined): readonly string[] {
  switch (credential?.kind) {
    case 'key':
    case 'token':
      return [credential.value];
    case 'aws':
      return [credential.secretAccessKey, credential.sessionToken ?? '', credential.accessKeyId];
    default:
      return [];
  }
}
