import { codeOf, messageOf, type JsonObject } from '@agentd/contract';
import type { ConnectionHooks, ListKind, McpBridgePorts, McpConnection, NamedTarget } from '../ports.ts';
import type { CallHooks, Page, ServerCall } from '../ports.ts';
import { Mutex } from '../mutex.ts';
import { ServerLog } from '../server-log.ts';
import type { ServerSettings } from '../settings.ts';
import { within } from '../time-limit.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { AuthorizationRounds } from './authorization-rounds.ts';
import { answersPing } from './answers-ping.ts';
import { Backoff } from './backoff.ts';
import { listAll } from './list-all.ts';
import { Leftovers } from './leftovers.ts';
import { openWithin } from './open-within.ts';
import { Relister } from './relister.ts';
import type { ServerState } from './server-status.ts';
import { Standing } from './standing.ts';

export type ServerPorts = Pick<McpBridgePorts, 'clock' | 'connector' | 'lists'>;

/**
 * One configured server, over all its connections.
 *   V1. At most one connection is open, and at most one is being opened.
 *   V2. Calls run one at a time, in the order they came (MCP-2); listing goes beside them.
 *   V3. A call that may have run is never repeated; one that was refused for its session is repeated once (MCP-4).
 *   V4. Whatever the server does, every call ends within its limit of time, or at once when its signal aborts.
 *   V5. After `close` nothing of the server is left.
 */
export class ManagedServer {
  readonly name: string;
  readonly settings: ServerSettings;
  readonly log = new ServerLog();
  /** As it said when it last connected: one that has died since is started again by the next call (MCP-4). */
  offersResources = false;
  readonly #ports: ServerPorts;
  readonly #changed: () => void;
  readonly #mutex = new Mutex();
  readonly #backoff: Backoff;
  readonly #life = new AbortController();
  readonly #leftovers = new Leftovers();
  readonly #rounds = new AuthorizationRounds();
  readonly #standing: Standing;
  readonly #relister: Relister;
  #tools: readonly unknown[] | null = null;
  #connection: McpConnection | null = null;
  #opening: Promise<McpConnection> | null = null;
  /** It let a call run out of time: it may hang. */
  #isSuspect = false;

  constructor(
    ports: ServerPorts,
    { name, settings }: { readonly name: string; readonly settings: ServerSettings },
    changed: (server: ManagedServer) => void,
  ) {
    this.name = name;
    this.settings = settings;
    this.#ports = ports;
    this.#changed = () => changed(this);
    this.#backoff = new Backoff(ports.clock);
    this.#relister = new Relister({
      clock: ports.clock,
      list: () => this.#relist(),
      keep: (work) => this.#leftovers.keep(work),
    });
    const first = settings.enabled ? (settings.lazy ? 'lazy' : 'connecting') : 'disabled';
    this.#standing = new Standing(first, this.#changed);
  }

  get state(): ServerState {
    return this.#standing.state;
  }

  get problem(): string | null {
    return this.#standing.problem;
  }

  /** As the server listed them, unjudged; null while nothing is known. */
  get tools(): readonly unknown[] | null {
    return this.#tools;
  }

  /** Connects where that is due: eager servers, and lazy ones of which nothing is known yet (MCP-1). Never rejects. */
  async prepare(): Promise<void> {
    if (!this.settings.enabled || this.#connection !== null || this.#life.signal.aborted) return;
    if (this.settings.lazy && this.#tools === null) {
      this.#tools = (await this.#ports.lists?.read(this.#target)) ?? null;
      if (this.#tools !== null) this.#changed();
    }
    if (this.settings.lazy && this.#tools !== null) return;
    // Who failed a moment ago is not asked again by every run.
    if (this.#backoff.remainingMs > 0) return;
    await this.#ready(this.#life.signal).catch(() => undefined);
  }

  /** The newest list, where the server gave notice of one. Never rejects. */
  refresh(): Promise<void> {
    return this.#relister.flush();
  }

  call(call: ServerCall, hooks: CallHooks, signal: AbortSignal): Promise<JsonObject> {
    return this.#serialized('the call', signal, (connection, own, renew) =>
      connection.call(
        call,
        {
          progress: (told) => {
            renew();
            hooks.progress(told);
          },
        },
        own,
      ),
    );
  }

  read(uri: string, signal: AbortSignal): Promise<JsonObject> {
    return this.#serialized('reading the resource', signal, (connection, own) => connection.read(uri, own));
  }

  page(kind: ListKind, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
    return this.#serialized('listing', signal, (connection, own) => connection.list(kind, cursor, own));
  }

  /** Lets the user authorize us; a server that goes on refusing does not get to ask for ever. */
  async authorize(work: () => Promise<void>): Promise<void> {
    this.#rounds.begin();
    await work();
    this.#backoff.succeeded();
    if (this.#connection === null) await this.prepare();
    else this.#standing.become('connected');
  }

  async close(): Promise<void> {
    this.#life.abort(new Error('the bridge is closed'));
    this.#relister.forget();
    const connection = this.#connection;
    this.#connection = null;
    await Promise.allSettled([connection?.close(), this.#opening]);
    await this.#leftovers.done();
  }

  get #target(): NamedTarget {
    return { name: this.name, target: this.settings.target };
  }

  #serialized<Result>(what: string, signal: AbortSignal, work: Work<Result>): Promise<Result> {
    return this.#mutex.run(() => this.#request(what, work, signal), signal);
  }

  async #request<Result>(what: string, work: Work<Result>, signal: AbortSignal): Promise<Result> {
    const limit = { clock: this.#ports.clock, ms: this.settings.timeoutMs, what };
    for (let repeats = 0; ; repeats += 1) {
      const connection = await this.#ready(signal);
      try {
        const result = await within(limit, (own, renew) => work(connection, own, renew), signal);
        this.#succeeded();
        return result;
      } catch (error) {
        signal.throwIfAborted();
        this.#judge(error, connection);
        if (codeOf(error) !== 'MCP_SESSION_EXPIRED' || repeats > 0) throw error;
      }
    }
  }

  #succeeded(): void {
    this.#backoff.succeeded();
    this.#rounds.succeeded();
    if (this.#connection !== null) this.#standing.become('connected');
  }

  /** What a failed request says of the connection. */
  #judge(error: unknown, connection: McpConnection): void {
    switch (codeOf(error)) {
      case 'MCP_TIMEOUT':
        this.#isSuspect = true;
        return;
      case 'MCP_NEEDS_AUTH':
        this.#standing.become('needs_auth', messageOf(error));
        return;
      case 'MCP_SESSION_EXPIRED':
        this.#drop(connection);
        return;
      case 'MCP_CLOSED':
      case 'MCP_UNREACHABLE':
        this.#lost(connection, messageOf(error));
        return;
      default:
    }
  }

  async #ready(signal: AbortSignal): Promise<McpConnection> {
    signal.throwIfAborted();
    if (this.#connection !== null && this.#isSuspect) await this.#probe(this.#connection, signal);
    if (this.#connection !== null) return this.#connection;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return unlessAborted(this.#opening, signal);
  }

  /** A server that is merely slow keeps its state; one that hangs is replaced (field H22). */
  async #probe(connection: McpConnection, signal: AbortSignal): Promise<void> {
    const limit = { clock: this.#ports.clock, ms: this.settings.timeoutMs };
    if (await answersPing(connection, limit, signal)) this.#isSuspect = false;
    else this.#drop(connection);
  }

  async #open(): Promise<McpConnection> {
    const { signal } = this.#life;
    await this.#backoff.wait(signal);
    this.#standing.become('connecting');
    try {
      const connection = await this.#connect(signal);
      this.#connection = connection;
      this.#isSuspect = false;
      this.offersResources = connection.offers.resources;
      await this.#list(connection);
      // It may have died while it was listed.
      if (this.#connection !== connection) throw new Error(this.#standing.problem ?? 'the connection ended');
      this.#standing.become('connected');
      return connection;
    } catch (error) {
      if (this.#connection !== null) this.#drop(this.#connection);
      // A death that was told already counts once.
      if (!signal.aborted && this.state === 'connecting') this.#failed(error);
      throw error;
    }
  }

  async #connect(signal: AbortSignal): Promise<McpConnection> {
    const { clock, connector } = this.#ports;
    let own: McpConnection | null = null;
    // What an older connection says is of no interest any more.
    const isCurrent = (): boolean => own === null || own === this.#connection;
    const hooks: ConnectionHooks = {
      log: (line) => this.log.add(line),
      toolsChanged: () => {
        if (isCurrent()) this.#relister.notice();
      },
      closed: (reason) => {
        if (own !== null) this.#lost(own, reason);
      },
    };
    const limit = { clock, ms: this.settings.timeoutMs, what: 'connecting' };
    const leftovers = this.#leftovers;
    own = await openWithin({ connector, server: this.#target, hooks, limit, leftovers }, signal);
    return own;
  }

  async #relist(): Promise<boolean> {
    if (this.#connection === null) return false;
    try {
      return await this.#list(this.#connection);
    } catch (error) {
      this.log.add(`its new tool list could not be read: ${messageOf(error)}`);
      return false;
    }
  }

  /** Reads the list of tools; true when it is another than before. */
  async #list(connection: McpConnection): Promise<boolean> {
    const limit = { clock: this.#ports.clock, ms: this.settings.timeoutMs, what: 'listing its tools' };
    const list = (own: AbortSignal) => listAll(connection, 'tools', own);
    const tools = connection.offers.tools ? await within(limit, list, this.#life.signal) : [];
    const isOther = JSON.stringify(tools) !== JSON.stringify(this.#tools);
    if (!isOther) return false;
    this.#tools = tools;
    this.#changed();
    this.#leftovers.keep(this.#ports.lists?.write(this.#target, tools) ?? Promise.resolve());
    return true;
  }

  #lost(connection: McpConnection, reason: string): void {
    if (this.#connection !== connection) return;
    this.#drop(connection);
    this.#failed(new Error(reason));
  }

  #drop(connection: McpConnection): void {
    if (this.#connection === connection) this.#connection = null;
    this.#relister.forget();
    this.#isSuspect = false;
    this.#leftovers.keep(connection.close());
  }

  #failed(error: unknown): void {
    this.#backoff.failed();
    const state = codeOf(error) === 'MCP_NEEDS_AUTH' ? 'needs_auth' : 'failed';
    // Only a program has last words of its own.
    const words = this.settings.target.kind === 'stdio' ? this.log.lastWords() : '';
    this.#standing.become(
      state,
      words === '' ? messageOf(error) : `${messageOf(error)}; its last words: ${words}`,
    );
  }
}

type Work<Result> = (connection: McpConnection, signal: AbortSignal, renew: () => void) => Promise<Result>;
