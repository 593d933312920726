import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { JsonObject } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import type { OAuthSettings } from '../settings.ts';
import type { CredentialStore, StoredCredentials } from './credentials.ts';

/** A user who is there to authorize us, and the address that the answer comes to. */
interface PresentUser {
  readonly redirectUrl: string;
  /** Must be in the answer that comes there. */
  readonly state: string;
  readonly open: (url: URL) => Promise<void>;
}

interface ProviderParts {
  readonly key: string;
  readonly store: CredentialStore;
  readonly settings: OAuthSettings;
  /** Null for a connection in the background: it never registers a client and never opens a page. */
  readonly user: PresentUser | null;
  /** What to do about it, for errors. */
  readonly advice: string;
}

type Forgotten = 'all' | 'client' | 'tokens' | 'verifier' | 'discovery';

/**
 * What the SDK's authorization flow knows of us (MCP-6). The order of clients is the SDK's: the one that is configured,
 * a client metadata document where the server takes one, dynamic registration.
 *   A1. Without a user nothing is registered and no page is opened: the flow ends with `MCP_NEEDS_AUTH`.
 *   A2. With a user the tokens that there are do not count: they did not do.
 */
export class ClientProvider implements OAuthClientProvider {
  /** Absent where there is no such document. */
  readonly clientMetadataUrl?: string;
  readonly #parts: ProviderParts;
  #verifier = '';

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    const { clientMetadataUrl } = parts.settings;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }

  get redirectUrl(): string {
    // A background flow never gets as far as using it, but without one the SDK takes us for a machine with a secret.
    return this.#parts.user?.redirectUrl ?? 'http://127.0.0.1/callback';
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope } = this.#parts.settings;
    return {
      client_name: 'agentd',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(scope === undefined ? {} : { scope }),
    };
  }

  state(): string {
    return this.#parts.user?.state ?? '';
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    const { settings, user } = this.#parts;
    const { clientId, clientSecret } = settings;
    if (clientId !== undefined) {
      return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
    }
    const { client, redirectUrl } = await this.#stored();
    // A registration for another redirect address is refused by many servers.
    const fits = client !== undefined && (user === null || redirectUrl === user.redirectUrl);
    if (!fits && user === null) throw this.#needsUser();
    return fits ? (client as unknown as OAuthClientInformationMixed) : undefined;
  }

  async saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
    const { settings, user } = this.#parts;
    if (settings.clientId !== undefined) return;
    await this.#update((before) => ({
      ...before,
      client: client as unknown as JsonObject,
      ...(user === null ? {} : { redirectUrl: user.redirectUrl }),
    }));
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    if (this.#parts.user !== null) return undefined;
    const { tokens } = await this.#stored();
    return tokens as unknown as OAuthTokens | undefined;
  }

  async saveTokens(tokens: OAuthTokens): Promise<void> {
    await this.#update(({ wanted, ...before }) => ({
      ...before,
      tokens: tokens as unknown as JsonObject,
      // A refresh gives no more rights than there were.
      ...(wanted === undefined || this.#parts.user !== null ? {} : { wanted }),
    }));
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    if (this.#parts.user === null) throw this.#needsUser();
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw mcpError('MCP_NEEDS_AUTH', 'the authorization server names a page that is no web page');
    }
    await this.#parts.user.open(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async invalidateCredentials(what: Forgotten): Promise<void> {
    if (what === 'verifier') this.#verifier = '';
    await this.#update((before) => without(before, what));
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#update((before) => ({ ...before, discovery: discovery as unknown as JsonObject }));
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    // With a user everything is looked up afresh: servers move.
    if (this.#parts.user !== null && this.#verifier === '') return undefined;
    return (await this.#stored()).discovery as unknown as OAuthDiscoveryState | undefined;
  }

  #needsUser() {
    return mcpError('MCP_NEEDS_AUTH', this.#parts.advice);
  }

  #stored(): Promise<StoredCredentials> {
    return this.#parts.store.read(this.#parts.key);
  }

  async #update(change: (before: StoredCredentials) => StoredCredentials): Promise<void> {
    await this.#parts.store.update(this.#parts.key, async (before) => change(before));
  }
}

function without(
  { client, redirectUrl, tokens, discovery, wanted }: StoredCredentials,
  what: Forgotten,
): StoredCredentials {
  const keeps = (part: Forgotten): boolean => what !== 'all' && what !== part;
  return {
    ...(client !== undefined && keeps('client') ? { client } : {}),
    ...(redirectUrl !== undefined && keeps('client') ? { redirectUrl } : {}),
    ...(tokens !== undefined && keeps('tokens') ? { tokens } : {}),
    ...(discovery !== undefined && keeps('discovery') ? { discovery } : {}),
    ...(wanted === undefined ? {} : { wanted }),
  };
}
