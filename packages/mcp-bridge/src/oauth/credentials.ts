import { createHash } from 'node:crypto';
import type { JsonObject } from '@agentd/contract';
import type { HttpTarget } from '../settings.ts';
import type { NamedTarget } from '../ports.ts';

/** What is remembered of one server's authorization. Everything in it is secret. */
export interface StoredCredentials {
  /** The client that we are to its authorization server, as registered. */
  readonly client?: JsonObject;
  /** The redirect address that `client` was registered with. */
  readonly redirectUrl?: string;
  readonly tokens?: JsonObject;
  /** Where the authorization server was found, so that a refresh need not look again. */
  readonly discovery?: JsonObject;
  /** What the server asked for when it last refused a request; the next authorization asks for that. */
  readonly wanted?: { readonly scope?: string; readonly resourceMetadataUrl?: string };
}

/**
 * Keeps credentials, one entry a server. Contract: `update` is atomic over all processes that share the store, and
 * readable to its user alone (MCP-6); a damaged entry counts as missing.
 */
export interface CredentialStore {
  readonly read: (key: string) => Promise<StoredCredentials>;
  readonly update: (
    key: string,
    change: (before: StoredCredentials) => Promise<StoredCredentials>,
  ) => Promise<StoredCredentials>;
}

/** Names the entry of a server: another address under the same name gets none of its tokens. */
export function credentialKey({ name, target }: NamedTarget<HttpTarget>): string {
  const digest = createHash('sha256')
    .update(`${name}\0${new URL(target.url).href}`)
    .digest('hex');
  return `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}-${digest.slice(0, 16)}`;
}
