import type { HttpExchange, OddHttp } from './odd-http.ts';

/** An authorization server on the same port as the MCP server that it guards. */
export interface OddAuthorization {
  /** Access tokens that count. */
  readonly valid: Set<string>;
  /** Every request to the token endpoint. */
  readonly grants: URLSearchParams[];
  readonly registrations: unknown[];
  /** Refresh tokens are good for one use, as OAuth 2.1 wants it. */
  refreshToken: string;
  /** Where the user was sent. */
  readonly pages: URL[];
}

/** Makes a server want authorization; `/authorize` agrees to everything. */
export function guard(server: OddHttp): OddAuthorization {
  const origin = new URL(server.url).origin;
  const state: OddAuthorization = {
    valid: new Set(),
    grants: [],
    registrations: [],
    refreshToken: 'r0',
    pages: [],
  };
  let count = 0;
  const tokens = () => {
    count += 1;
    state.valid.add(`a${count}`);
    state.refreshToken = `r${count}`;
    return {
      access_token: `a${count}`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: state.refreshToken,
    };
  };
  server.take = async (exchange) => {
    const { request } = exchange;
    const url = new URL(request.url ?? '/', origin);
    if (url.pathname === '/mcp') return refuses(exchange, state, origin);
    json(exchange, await authorization({ exchange, url, origin, state, tokens }));
    return true;
  };
  return state;
}

function refuses({ request, status }: HttpExchange, { valid }: OddAuthorization, origin: string): boolean {
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  if (valid.has(token)) return false;
  const resource = `${origin}/.well-known/oauth-protected-resource/mcp`;
  status(401, '', { 'www-authenticate': `Bearer resource_metadata="${resource}", scope="tools"` });
  return true;
}

interface Asked {
  readonly exchange: HttpExchange;
  readonly url: URL;
  readonly origin: string;
  readonly state: OddAuthorization;
  readonly tokens: () => object;
}

type Answer = { readonly code: number; readonly body: object; readonly location?: string };

async function authorization({ exchange, url, origin, state, tokens }: Asked): Promise<Answer> {
  switch (url.pathname) {
    case '/.well-known/oauth-protected-resource/mcp':
      return { code: 200, body: { resource: `${origin}/mcp`, authorization_servers: [origin] } };
    case '/.well-known/oauth-authorization-server':
      return {
        code: 200,
        body: {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
        },
      };
    case '/register': {
      state.registrations.push(exchange.message);
      return { code: 201, body: { ...exchange.message, client_id: `c${state.registrations.length}` } };
    }
    case '/authorize': {
      state.pages.push(url);
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'the-code');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return { code: 302, body: {}, location: back.href };
    }
    case '/token': {
      const grant = exchange.form;
      state.grants.push(grant);
      const isSpent =
        grant.get('grant_type') === 'refresh_token' && grant.get('refresh_token') !== state.refreshToken;
      return isSpent ? { code: 400, body: { error: 'invalid_grant' } } : { code: 200, body: tokens() };
    }
    default:
      return { code: 404, body: {} };
  }
}

function json({ status }: HttpExchange, { code, body, location }: Answer): void {
  status(code, JSON.stringify(body), {
    'content-type': 'application/json',
    ...(location === undefined ? {} : { location }),
  });
}
