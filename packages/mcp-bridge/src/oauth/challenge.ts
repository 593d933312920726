import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';

/** What a server answered in place of a result: authorize, or authorize for more. */
export interface Challenge {
  readonly kind: 'unauthorized' | 'insufficient_scope';
  readonly scope?: string;
  readonly resourceMetadataUrl?: URL;
}

/** Null for a response that asks for no authorization. */
export function challengeOf(response: Response): Challenge | null {
  if (response.status !== 401 && response.status !== 403) return null;
  const { scope, error, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (response.status === 403 && error !== 'insufficient_scope') return null;
  return {
    kind: response.status === 403 ? 'insufficient_scope' : 'unauthorized',
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  };
}
