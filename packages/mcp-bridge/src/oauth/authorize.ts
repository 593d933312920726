import { randomBytes } from 'node:crypto';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { isAgentdError, messageOf } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import type { AuthorizationInteraction, NamedTarget } from '../ports.ts';
import type { SdkConnectorPorts } from '../sdk/sdk-connector.ts';
import type { HttpTarget } from '../settings.ts';
import { challengeOf, type Challenge } from './challenge.ts';
import { ClientProvider } from './client-provider.ts';
import { credentialKey, type CredentialStore } from './credentials.ts';
import { listenForAnswer } from './loopback.ts';
import { fetchWithinOrigin, strangerFetch } from './stranger-fetch.ts';

export interface AuthorizationRequest {
  readonly server: NamedTarget<HttpTarget>;
  readonly interaction: AuthorizationInteraction;
}

/** Contract: that of `McpConnector.authorize`. */
export async function authorizeServer(
  { credentials, client }: SdkConnectorPorts,
  { server, interaction }: AuthorizationRequest,
  signal: AbortSignal,
): Promise<void> {
  const { target, name } = server;
  if (credentials === null || target.oauth === null) {
    throw mcpError('MCP_USAGE', `${name} does not use oauth: its settings say so`);
  }
  const key = credentialKey(server);
  const challenge = await challengeFrom({ target, client, key, credentials }, signal);
  const port = target.oauth.callbackPort ?? (await portOf(credentials, key));
  const state = randomBytes(16).toString('base64url');
  await using loopback = await listenForAnswer(port, state);
  const provider = new ClientProvider({
    key,
    store: credentials,
    settings: target.oauth,
    user: { redirectUrl: loopback.redirectUrl, state, open: interaction.open },
    advice: '',
  });
  const request = requestFor(target, challenge, signal);
  try {
    if ((await auth(provider, request)) === 'AUTHORIZED') return;
    const authorizationCode = await loopback.code(signal);
    await auth(provider, { ...request, authorizationCode });
  } catch (error) {
    signal.throwIfAborted();
    if (isAgentdError(error)) throw error;
    // What an authorization server says is a stranger's word: it is quoted, and short.
    const said = messageOf(error)
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .slice(0, 300);
    throw mcpError('MCP_NEEDS_AUTH', `${name} was not authorized: ${said}`, { cause: error });
  }
}

function requestFor(
  { url: serverUrl }: HttpTarget,
  { scope, resourceMetadataUrl }: Pick<Challenge, 'scope' | 'resourceMetadataUrl'>,
  signal: AbortSignal,
) {
  return {
    serverUrl,
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    fetchFn: strangerFetch(signal),
  };
}

interface Asking {
  readonly target: HttpTarget;
  readonly client: SdkConnectorPorts['client'];
  readonly key: string;
  readonly credentials: CredentialStore;
}

/** What the server wants: what it asked for when it last refused us, else what it says to a stranger. */
async function challengeFrom(
  { target, client, key, credentials }: Asking,
  signal: AbortSignal,
): Promise<Pick<Challenge, 'scope' | 'resourceMetadataUrl'>> {
  const { wanted } = await credentials.read(key);
  if (wanted !== undefined) {
    const { scope, resourceMetadataUrl } = wanted;
    return {
      ...(scope === undefined ? {} : { scope }),
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
    };
  }
  const response = await introduced({ target, client }, signal);
  await response.body?.cancel();
  const challenge = challengeOf(response);
  if (challenge !== null) return challenge;
  throw mcpError(
    'MCP_USAGE',
    response.ok
      ? 'the server takes us without any authorization'
      : `the server answers HTTP ${response.status} and asks for no authorization`,
  );
}

/** The first message of every connection, without any credential. */
async function introduced(
  { target, client }: Pick<Asking, 'target' | 'client'>,
  signal: AbortSignal,
): Promise<Response> {
  const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo: client };
  try {
    return await fetchWithinOrigin(target.url, {
      method: 'POST',
      headers: {
        ...target.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw mcpError('MCP_UNREACHABLE', `the server cannot be reached: ${messageOf(error)}`, { cause: error });
  }
}

/** A client that is registered for one loopback port is asked for by that port again. */
async function portOf(credentials: CredentialStore, key: string): Promise<number> {
  const { redirectUrl } = await credentials.read(key);
  return redirectUrl === undefined ? 0 : Number(new URL(redirectUrl).port);
}
