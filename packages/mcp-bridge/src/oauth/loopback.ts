import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { codeOf } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import { unlessAborted } from '../unless-aborted.ts';

/** The redirect address of an authorization, on this machine alone. */
export interface Loopback extends AsyncDisposable {
  readonly redirectUrl: string;
  /** Waits for the code. Rejects with `MCP_NEEDS_AUTH` where the authorization server says no. */
  readonly code: (signal: AbortSignal) => Promise<string>;
}

const PATH = '/callback';
const MAX_HEADER_BYTES = 16 * 1024;

/** Listens on a port of 127.0.0.1 for the answer with `state`; on any free one where the port is taken, or for 0. */
export async function listenForAnswer(port: number, state: string): Promise<Loopback> {
  const answers = new Answers(state);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) =>
    answers.take(request, response),
  );
  await listening(server, port);
  const { port: actual } = server.address() as AddressInfo;
  return {
    redirectUrl: `http://127.0.0.1:${actual}${PATH}`,
    code: (signal) => unlessAborted(answers.code, signal),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listening(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE' || port === 0) throw error;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
}

/** Only an answer with the right state counts; whatever else comes to the address changes nothing. */
class Answers {
  /** It may come before anybody waits for it. */
  readonly code: Promise<string>;
  readonly #state: string;
  readonly #resolve: (code: string) => void;
  readonly #reject: (error: Error) => void;

  constructor(state: string) {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    promise.catch(() => undefined);
    [this.#state, this.code, this.#resolve, this.#reject] = [state, promise, resolve, reject];
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    // Anybody on this machine, and any page, can send anything: `//` is no address at all.
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || url?.pathname !== PATH)
      return told(response, 404, 'There is nothing here.');
    const { searchParams } = url;
    if (!isSame(searchParams.get('state') ?? '', this.#state)) {
      return told(response, 400, 'This answer belongs to no authorization that is under way.');
    }
    const code = searchParams.get('code');
    if (code === null) {
      told(response, 400, 'The authorization was refused. You can close this page.');
      const reason = (searchParams.get('error') ?? 'no reason').replaceAll(/[^\w.-]/g, ' ').slice(0, 80);
      return this.#reject(mcpError('MCP_NEEDS_AUTH', `the authorization was refused: ${reason}`));
    }
    told(response, 200, 'agentd is authorized. You can close this page.');
    this.#resolve(code);
  }
}

function told(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`${text}\n`);
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
