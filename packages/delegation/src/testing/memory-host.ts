import {
  randomIds,
  type Ids,
  type RunId,
  type SessionFacts,
  type SessionHost,
  type SessionId,
  type SessionRun,
  type StartedChildRun,
} from '@agentd/contract';
import { untilAborted } from '../abortable.ts';
import type { Delegation } from '../create-delegation.ts';
import type { DelegationLedger } from '../ledger.ts';
import { makeCall } from './memory-call.ts';
import type { MemoryLog } from './memory-log.ts';
import {
  endOf,
  type ActiveRun,
  type CallOptions,
  type MemoryCall,
  type MemoryLoop,
  type MemoryRun,
} from './memory-run.ts';
import { conversationOf, runByClientId, runsOf } from './memory-session.ts';
import { MemoryStore, type MemoryDisk } from './memory-store.ts';

export interface MemoryHostInit {
  /** Runs without one go on until a test ends them. */
  readonly loop?: MemoryLoop;
  readonly disk?: MemoryDisk;
  readonly ids?: Ids;
}

const NEVER = new AbortController().signal;

/**
 * Sessions, their logs and their runs in memory: another store and another loop than the engine's. A test can hold and
 * fail the disk, end runs by hand, page sessions out, stop, and crash.
 */
export class MemoryHost implements SessionHost<DelegationLedger> {
  readonly #ids: Ids;
  readonly #loop: MemoryLoop | undefined;
  readonly #store: MemoryStore;
  readonly #stopping = new AbortController();
  readonly #woken: SessionId[] = [];

  constructor({ loop, disk = new Map(), ids = randomIds }: MemoryHostInit = {}) {
    this.#loop = loop;
    this.#ids = ids;
    this.#store = new MemoryStore(disk);
  }

  /** Whose ledgers and tools the sessions have. Call it before anything else. */
  readonly connect = (delegation: Pick<Delegation, 'openLedger' | 'tools'>): void => {
    this.#store.delegation = delegation;
  };

  /** Sessions that were woken, in order, with repetitions. */
  get woken(): readonly SessionId[] {
    return this.#woken;
  }

  get shutdown(): AbortSignal {
    return this.#stopping.signal;
  }

  /** A root of a new tree. */
  readonly addRoot = async (agent: string): Promise<SessionFacts> => {
    const sessionId = this.#ids.uuid();
    return this.#store.create(sessionId, {
      handle: `${agent}_${this.#ids.hex(8)}`,
      agent,
      title: agent,
      origin: null,
    });
  };

  readonly log = (sessionId: SessionId): MemoryLog => this.#store.entry(sessionId).log;

  readonly ledger = (sessionId: SessionId): DelegationLedger => this.#store.liveOf(sessionId).ledger;

  readonly find: SessionHost['find'] = async (sessionId) => {
    await this.#store.alive();
    return this.#store.find(sessionId);
  };

  readonly tree: SessionHost['tree'] = async (rootId) => {
    await this.#store.alive();
    return this.#store.tree(rootId);
  };

  readonly use: SessionHost<DelegationLedger>['use'] = async (sessionId, work) => {
    await this.#store.alive();
    if (this.shutdown.aborted) throw new Error('the host is stopping');
    const entry = this.#store.entry(sessionId);
    const { inbox, ledger } = this.#store.liveOf(sessionId);
    const facts = this.#store.facts(sessionId);
    const sync = async (): Promise<void> => {
      await entry.log.sync();
      await this.#store.alive();
    };
    entry.users += 1;
    try {
      return await work({ facts, log: { append: entry.log.append, sync }, inbox, ledger });
    } finally {
      entry.users -= 1;
    }
  };

  readonly createChild: SessionHost['createChild'] = async ({ sessionId, handle, agent, title, origin }) => {
    await this.#store.alive();
    const known = this.#store.find(sessionId);
    if (known !== null) return known;
    const { rootId, parentId, parentRunId, toolCallId, invocationId, depth } = origin;
    const stored = { root_id: rootId, parent_id: parentId, depth };
    const call = { parent_run_id: parentRunId, tool_call_id: toolCallId, invocation_id: invocationId };
    return this.#store.create(sessionId, { handle, agent, title, origin: { ...stored, ...call } });
  };

  readonly startRun: SessionHost['startRun'] = async (sessionId, { clientRunId, input, signal = NEVER }) => {
    await this.#store.alive();
    const entry = this.#store.entry(sessionId);
    const known = runByClientId(entry.log.events, clientRunId);
    if (known !== undefined)
      return {
        runId: known.runId,
        done: entry.run?.runId === known.runId ? entry.run.done : Promise.resolve(known),
      };
    while (entry.run !== null) {
      await untilAborted(entry.run.done, signal);
      signal.throwIfAborted();
    }
    if (this.shutdown.aborted) throw new Error('the host is stopping');
    return this.#start(sessionId, { clientRunId, trigger: 'delegation', input });
  };

  readonly run: SessionHost['run'] = async (sessionId, clientRunId) => {
    await this.#store.alive();
    const { events } = this.#store.entry(sessionId).log;
    const run = clientRunId === undefined ? runsOf(events).at(-1) : runByClientId(events, clientRunId);
    return run ?? null;
  };

  readonly cancelRun = async (sessionId: SessionId, runId?: RunId): Promise<void> => {
    await this.#store.alive();
    const { run } = this.#store.entry(sessionId);
    if (run === null || (runId !== undefined && run.runId !== runId)) return;
    run.cancelling.abort();
    await run.done;
  };

  readonly conversation: SessionHost['conversation'] = async (sessionId, maxBytes) =>
    conversationOf(this.#store.entry(sessionId).log.events, maxBytes);

  readonly wake = (sessionId: SessionId): void => {
    this.#woken.push(sessionId);
    if (this.#loop !== undefined && !this.#store.isDead && !this.shutdown.aborted)
      this.#startWithMessages(sessionId);
  };

  /** A run by a user; `done` is its end. */
  readonly prompt = async (sessionId: SessionId, input: string): Promise<StartedChildRun> =>
    this.#start(sessionId, { clientRunId: this.#ids.uuid(), trigger: 'user', input });

  /** Ends the active run of a session as completed, or as failed. */
  readonly end = async (sessionId: SessionId, outcome: string | Error): Promise<void> => {
    const { run } = this.#store.entry(sessionId);
    if (run === null) throw new Error('no run is active');
    if (typeof outcome === 'string') run.outcome.resolve(outcome);
    else run.outcome.reject(outcome);
    await run.done;
  };

  /** Commits a turn of the active run. */
  readonly say = (sessionId: SessionId, text: string): void => {
    const { log, run } = this.#store.entry(sessionId);
    log.append({ type: 'model_turn_committed', text }, run?.runId ?? null);
  };

  /** A call in the active run. */
  readonly call = (sessionId: SessionId, tool: string, options: CallOptions): Promise<MemoryCall> => {
    const { run } = this.#store.entry(sessionId);
    if (run === null) throw new Error('no run is active');
    const call = this.#call(sessionId, run, { tool, ...options });
    run.calls.add(call);
    return call.finally(() => run.calls.delete(call));
  };

  /** Throws away what is in memory of a session that nobody uses. */
  readonly pageOut = (sessionId: SessionId): void => {
    const entry = this.#store.entry(sessionId);
    if (entry.users === 0 && entry.run === null) entry.live = null;
  };

  /** As a revert of its parent does: nobody finds it any more. */
  readonly remove = (sessionId: SessionId): void => this.#store.remove(sessionId);

  /** Stops as an engine does: no new work, and every run is cancelled. */
  readonly stop = async (): Promise<void> => {
    this.#stopping.abort();
    await Promise.all(this.#store.ids().map((sessionId) => this.cancelRun(sessionId)));
  };

  /**
   * Kills this host: nothing that it was asked for ever resolves again. The disk has everything that was synced and, of
   * what was not, as much of each log as `kept` says, in hundredths.
   */
  readonly crash = (kept: (sessionId: SessionId) => number = () => 0): MemoryDisk => this.#store.kill(kept);

  async #start(
    sessionId: SessionId,
    { clientRunId, trigger, input }: Record<'clientRunId' | 'trigger' | 'input', string>,
  ): Promise<StartedChildRun> {
    const entry = this.#store.entry(sessionId);
    if (entry.run !== null) throw new Error('a run is active');
    this.#store.liveOf(sessionId);
    const runId = this.#ids.uuid();
    const cancelling = new AbortController();
    const ended = Promise.withResolvers<SessionRun>();
    const outcome = Promise.withResolvers<string>();
    const run: ActiveRun = { runId, cancelling, calls: new Set(), outcome, done: ended.promise, tools: null };
    entry.run = run;
    entry.log.append({ type: 'run_started', client_run_id: clientRunId, trigger }, runId);
    entry.log.append({ type: 'user_input_submitted', text: input }, runId);
    void this.#carry(sessionId, run, input).then(ended.resolve, () => undefined);
    await entry.log.sync();
    await this.#store.alive();
    return { runId, done: ended.promise };
  }

  async #carry(sessionId: SessionId, run: ActiveRun, input: string): Promise<SessionRun> {
    const { log } = this.#store.entry(sessionId);
    void this.#loop?.(this.#runFor(sessionId, run, input)).then(run.outcome.resolve, run.outcome.reject);
    const payload = await endOf(run);
    await Promise.allSettled(run.calls);
    await this.#store.alive();
    log.append(payload, run.runId);
    await log.sync();
    await this.#store.alive();
    return this.#ended(sessionId, run.runId);
  }

  #ended(sessionId: SessionId, runId: RunId): SessionRun {
    const entry = this.#store.entry(sessionId);
    entry.run = null;
    // What came while it ended is a reason for another run.
    if (this.#loop !== undefined && !this.shutdown.aborted)
      queueMicrotask(() => this.#startWithMessages(sessionId));
    const run = runsOf(entry.log.events).find((candidate) => candidate.runId === runId);
    if (run === undefined) throw new Error('the log lost a run');
    return run;
  }

  #startWithMessages(sessionId: SessionId): void {
    if (this.#store.find(sessionId) === null || this.#store.entry(sessionId).run !== null) return;
    if (this.#store.liveOf(sessionId).inbox.waiting === 0) return;
    const clientRunId = this.#ids.uuid();
    const claimed = this.#store.liveOf(sessionId).inbox.claim({
      runId: clientRunId,
      kind: 'run_start',
      canReply: () => false,
    });
    const input = claimed.map(({ text }) => text).join('\n\n');
    void this.#start(sessionId, { clientRunId, trigger: 'message', input }).catch(() => undefined);
  }

  #runFor(sessionId: SessionId, run: ActiveRun, input: string): MemoryRun {
    return {
      facts: this.#store.facts(sessionId),
      runId: run.runId,
      input,
      signal: run.cancelling.signal,
      say: (text) => this.say(sessionId, text),
      call: (tool, args, callId) =>
        this.call(sessionId, tool, { args, ...(callId === undefined ? {} : { callId }) }),
    };
  }

  async #call(
    sessionId: SessionId,
    run: ActiveRun,
    { tool: name, args, callId = this.#ids.uuid() }: CallOptions & { readonly tool: string },
  ): Promise<MemoryCall> {
    const { log } = this.#store.entry(sessionId);
    log.append({ type: 'tool_call_started', tool_call_id: callId, tool: name }, run.runId);
    await log.sync();
    const facts = this.#store.facts(sessionId);
    const session = { id: sessionId, cwd: facts.cwd, agent: facts.agent };
    run.tools ??= this.#store.delegation?.tools(session) ?? null;
    const tools = (await run.tools) ?? [];
    const call = await makeCall({ callId, name, args, facts, tools }, run.cancelling.signal);
    await this.#store.alive();
    log.append({ type: 'tool_call_terminated', tool_call_id: callId, ...call }, run.runId);
    await log.sync();
    return call;
  }
}
