import { mcpError } from '../errors.ts';

const MOST_ROUNDS = 3;

/** Counts how often the user authorized us in vain: a server that refuses all the same must not ask for ever (MCP-6). */
export class AuthorizationRounds {
  #rounds = 0;

  /** Contract: throws `MCP_NEEDS_AUTH` once there were three since a request last succeeded. */
  begin(): void {
    if (this.#rounds >= MOST_ROUNDS) {
      throw mcpError('MCP_NEEDS_AUTH', `it was authorized ${MOST_ROUNDS} times and refuses all the same`);
    }
    this.#rounds += 1;
  }

  succeeded(): void {
    this.#rounds = 0;
  }
}
