import { type Tool, type ToolProvider } from '@agentd/contract';
import { ToolReader } from './offers/known-tool.ts';
import { toolOffer, type ToolOffer } from './offers/tool-offer.ts';
import type { AuthorizationInteraction, McpBridgePorts } from './ports.ts';
import { mcpError } from './errors.ts';
import { ManagedServer } from './server/managed-server.ts';
import type { ServerStatus } from './server/server-status.ts';
import type { McpBridgeSettings } from './settings.ts';

/** Tools of MCP servers, and the servers themselves. */
export interface McpBridge extends ToolProvider {
  /**
   * Contract: starts what is due; waits at most `startupWaitMs` for eager servers (MCP-1) and never rejects; the same
   * array as long as nothing has changed.
   */
  readonly tools: ToolProvider['tools'];
  /** The set as it stands now: before each model request. Takes up notices of changed lists (MCP-4); never rejects. */
  readonly refresh: () => Promise<readonly Tool[]>;
  readonly statuses: () => readonly ServerStatus[];
  /** Waits until no server is connecting any more; at most their limits of time. */
  readonly settled: () => Promise<void>;
  /** Lets the user authorize us with a server, and connects. Rejects with an `McpErrorCode`. */
  readonly authorize: (
    server: string,
    interaction: AuthorizationInteraction,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Ends all servers and everything that they started. Idempotent. */
  readonly close: () => Promise<void>;
}

/** A list that was announced is worth a short wait, a server that does not answer is not. */
const REFRESH_WAIT_MS = 1000;

export const MCP_PROVIDER_ID = 'mcp.tools';

/** Puts the bridge together. Starts nothing: servers are started when tools are first asked for. */
export function createMcpBridge(ports: McpBridgePorts, settings: McpBridgeSettings): McpBridge {
  return new Bridge(ports, settings);
}

class Bridge implements McpBridge {
  readonly id = MCP_PROVIDER_ID;
  readonly #ports: McpBridgePorts;
  readonly #settings: McpBridgeSettings;
  readonly #servers: readonly ManagedServer[];
  #offer: ToolOffer | null = null;
  readonly #reader = new ToolReader();
  readonly #told = new Map<string, string>();
  #hasWaited = false;
  #preparing: Promise<unknown> = Promise.resolve();

  constructor(ports: McpBridgePorts, settings: McpBridgeSettings) {
    this.#ports = ports;
    this.#settings = settings;
    const changed = (server: ManagedServer): void => {
      this.#offer = null;
      this.#tell(server);
    };
    this.#servers = Object.entries(settings.servers).map(
      ([name, server]) => new ManagedServer(ports, { name, settings: server }, changed),
    );
  }

  readonly tools = async (): Promise<readonly Tool[]> => {
    this.#preparing = Promise.all(this.#servers.map((server) => server.prepare()));
    // Only the first run waits: what is not there by then joins at a later request.
    if (!this.#hasWaited) await this.#atMost(this.#settings.startupWaitMs, this.#preparing);
    this.#hasWaited = true;
    return this.#current().tools;
  };

  readonly refresh = async (): Promise<readonly Tool[]> => {
    const refreshed = Promise.all(this.#servers.map((server) => server.refresh()));
    await this.#atMost(REFRESH_WAIT_MS, refreshed);
    return this.#current().tools;
  };

  readonly settled = async (): Promise<void> => {
    await this.#preparing;
  };

  readonly statuses = (): readonly ServerStatus[] => {
    const { diagnostics } = this.#current();
    return this.#servers.map((server) => ({
      name: server.name,
      state: server.state,
      tools: server.tools?.length ?? 0,
      problem: server.problem,
      diagnostics: diagnostics.get(server.name) ?? [],
      log: server.log.lines,
    }));
  };

  readonly authorize: McpBridge['authorize'] = async (name, interaction, signal) => {
    const server = this.#servers.find((each) => each.name === name);
    if (server === undefined) throw mcpError('MCP_USAGE', this.#unknown(name));
    const { target } = server.settings;
    if (target.kind !== 'http') {
      throw mcpError('MCP_USAGE', `${name} is a program: only servers with a url are authorized`);
    }
    await server.authorize(() => this.#ports.connector.authorize({ name, target }, interaction, signal));
  };

  readonly close = async (): Promise<void> => {
    await Promise.all(this.#servers.map((server) => server.close()));
  };

  /** Once for each trouble: a server that fails again for the same reason is no news. */
  #tell({ name, state, problem }: ManagedServer): void {
    if (state === 'connected') this.#told.delete(name);
    if (problem === null || this.#told.get(name) === problem) return;
    this.#told.set(name, problem);
    this.#ports.problem?.(name, problem);
  }

  #current(): ToolOffer {
    const { reservedNames, toolTextBudgetTokens: budgetTokens } = this.#settings;
    this.#offer ??= toolOffer({
      servers: this.#servers.filter(({ settings }) => settings.enabled),
      reader: this.#reader,
      media: this.#ports.media,
      reservedNames,
      budgetTokens,
    });
    return this.#offer;
  }

  async #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    let stopTimer = (): void => undefined;
    const enough = new Promise<void>((resolve) => {
      stopTimer = this.#ports.clock.after(ms, resolve);
    });
    await Promise.race([work, enough]);
    stopTimer();
  }

  #unknown(name: string): string {
    const names = this.#servers.map((server) => server.name).join(', ');
    return `no MCP server ${JSON.stringify(name)}; there are: ${names || 'none'}`;
  }
}
