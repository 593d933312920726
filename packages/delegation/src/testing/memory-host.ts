import {
  codeOf,
  isAgentdError,
  messageOf,
  randomIds,
  toolError,
  type EventEnvelope,
  type EventPayload,
  type Ids,
  type JsonObject,
  type RunId,
  type SessionFacts,
  type SessionHost,
  type SessionId,
  type SessionRun,
  type StartedChildRun,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';
import { untilAborted } from '../abortable.ts';
import type { Delegation } from '../create-delegation.ts';
import type { DelegationLedger } from '../ledger.ts';
import { MemoryInbox } from './memory-inbox.ts';
import { memoryLog, type MemoryLog } from './memory-log.ts';
import {
  closingEvents,
  conversationOf,
  factsOf,
  runByClientId,
  runsOf,
  type LiveSession,
} from './memory-session.ts';

/** A run of a session, as its loop sees it. */
export interface MemoryRun {
  readonly facts: SessionFacts;
  readonly runId: RunId;
  /** The prompt, or the messages that woke the session. */
  readonly input: string;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Commits a turn. */
  readonly say: (text: string) => void;
  /** Makes a call of a tool of delegation, as an engine does. */
  readonly call: (tool: string, args: unknown, callId?: string) => Promise<MemoryCall>;
}

/** How a call ended, as a model would read it. */
export interface MemoryCall {
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly text: string;
  readonly metadata: JsonObject;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Plays an agent: what it returns is its answer, what it throws makes its run fail. */
export type MemoryLoop = (run: MemoryRun) => Promise<string>;

/** What is left of a store when its process has died: the events of each session. */
export type MemoryDisk = ReadonlyMap<SessionId, readonly EventEnvelope[]>;

export interface MemoryHostInit {
  /** Runs without one go on until a test ends them. */
  readonly loop?: MemoryLoop;
  readonly disk?: MemoryDisk;
  readonly ids?: Ids;
}

interface Entry {
  readonly log: MemoryLog;
  live: LiveSession<DelegationLedger> | null;
  users: number;
  run: ActiveRun | null;
}

interface ActiveRun {
  readonly runId: RunId;
  readonly cancelling: AbortController;
  readonly calls: Set<Promise<unknown>>;
  readonly outcome: PromiseWithResolvers<string>;
  readonly done: Promise<SessionRun>;
  /** Fixed for the run, once it makes a call. */
  tools: Promise<readonly Tool[]> | null;
}

const NEVER = new AbortController().signal;

/**
 * Sessions, their logs and their runs in memory: another store and another loop than the engine's. A test can hold and
 * fail the disk, end runs by hand, page sessions out, stop, and crash.
 */
export class MemoryHost implements SessionHost<DelegationLedger> {
  readonly #ids: Ids;
  readonly #loop: MemoryLoop | undefined;
  readonly #entries = new Map<SessionId, Entry>();
  readonly #stopping = new AbortController();
  readonly #woken: SessionId[] = [];
  #delegation: Pick<Delegation, 'openLedger' | 'tools'> | null = null;
  #dead = false;

  constructor({ loop, disk = new Map(), ids = randomIds }: MemoryHostInit = {}) {
    this.#loop = loop;
    this.#ids = ids;
    for (const [sessionId, events] of disk)
      if (factsOf(sessionId, events) !== null) this.#add(sessionId, events);
    for (const { log } of this.#entries.values())
      for (const { payload, run_id: runId } of closingEvents(log.events)) log.append(payload, runId);
  }

  /** Whose ledgers and tools the sessions have. Call it before anything else. */
  readonly connect = (delegation: Pick<Delegation, 'openLedger' | 'tools'>): void => {
    this.#delegation = delegation;
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
    return this.#create(sessionId, {
      handle: `${agent}_${this.#ids.hex(8)}`,
      agent,
      title: agent,
      origin: null,
    });
  };

  readonly log = (sessionId: SessionId): MemoryLog => this.#entry(sessionId).log;

  readonly ledger = (sessionId: SessionId): DelegationLedger => this.#liveOf(sessionId).ledger;

  readonly find: SessionHost['find'] = async (sessionId) => {
    await this.#alive();
    const entry = this.#entries.get(sessionId);
    return entry === undefined ? null : factsOf(sessionId, entry.log.events);
  };

  readonly tree: SessionHost['tree'] = async (rootId) => {
    await this.#alive();
    return [...this.#entries]
      .flatMap(([sessionId, { log }]) => factsOf(sessionId, log.events) ?? [])
      .filter((facts) => facts.rootId === rootId);
  };

  readonly use: SessionHost<DelegationLedger>['use'] = async (sessionId, work) => {
    await this.#alive();
    if (this.shutdown.aborted) throw new Error('the host is stopping');
    const entry = this.#entry(sessionId);
    const { inbox, ledger } = this.#liveOf(sessionId);
    const facts = this.#facts(sessionId);
    const sync = async (): Promise<void> => {
      await entry.log.sync();
      await this.#alive();
    };
    entry.users += 1;
    try {
      return await work({ facts, log: { append: entry.log.append, sync }, inbox, ledger });
    } finally {
      entry.users -= 1;
    }
  };

  readonly createChild: SessionHost['createChild'] = async ({ sessionId, handle, agent, title, origin }) => {
    await this.#alive();
    if (this.#entries.has(sessionId)) return this.#facts(sessionId);
    const { rootId, parentId, parentRunId, toolCallId, invocationId, depth } = origin;
    const stored = { root_id: rootId, parent_id: parentId, depth };
    const call = { parent_run_id: parentRunId, tool_call_id: toolCallId, invocation_id: invocationId };
    return this.#create(sessionId, { handle, agent, title, origin: { ...stored, ...call } });
  };

  readonly startRun: SessionHost['startRun'] = async (sessionId, { clientRunId, input, signal = NEVER }) => {
    await this.#alive();
    const entry = this.#entry(sessionId);
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
    await this.#alive();
    const { events } = this.#entry(sessionId).log;
    const run = clientRunId === undefined ? runsOf(events).at(-1) : runByClientId(events, clientRunId);
    return run ?? null;
  };

  readonly cancelRun = async (sessionId: SessionId, runId?: RunId): Promise<void> => {
    await this.#alive();
    const { run } = this.#entry(sessionId);
    if (run === null || (runId !== undefined && run.runId !== runId)) return;
    run.cancelling.abort();
    await run.done;
  };

  readonly conversation: SessionHost['conversation'] = async (sessionId, maxBytes) =>
    conversationOf(this.#entry(sessionId).log.events, maxBytes);

  readonly wake = (sessionId: SessionId): void => {
    this.#woken.push(sessionId);
    const entry = this.#entries.get(sessionId);
    if (this.#loop !== undefined && entry?.run === null && !this.#dead && !this.shutdown.aborted)
      this.#startWithMessages(sessionId);
  };

  /** A run by a user; `done` is its end. */
  readonly prompt = async (sessionId: SessionId, input: string): Promise<StartedChildRun> =>
    this.#start(sessionId, { clientRunId: this.#ids.uuid(), trigger: 'user', input });

  /** Ends the active run of a session as completed, or as failed. */
  readonly end = async (sessionId: SessionId, outcome: string | Error): Promise<void> => {
    const { run } = this.#entry(sessionId);
    if (run === null) throw new Error('no run is active');
    if (typeof outcome === 'string') run.outcome.resolve(outcome);
    else run.outcome.reject(outcome);
    await run.done;
  };

  /** Commits a turn of the active run. */
  readonly say = (sessionId: SessionId, text: string): void => {
    const { log, run } = this.#entry(sessionId);
    log.append({ type: 'model_turn_committed', text }, run?.runId ?? null);
  };

  /** A call in the active run. */
  readonly call = (sessionId: SessionId, tool: string, options: CallOptions): Promise<MemoryCall> => {
    const { run } = this.#entry(sessionId);
    if (run === null) throw new Error('no run is active');
    const call = this.#call(sessionId, run, { tool, ...options });
    run.calls.add(call);
    return call.finally(() => run.calls.delete(call));
  };

  /** Throws away what is in memory of a session that nobody uses. */
  readonly pageOut = (sessionId: SessionId): void => {
    const entry = this.#entry(sessionId);
    if (entry.users === 0 && entry.run === null) entry.live = null;
  };

  /** As a revert of its parent does: nobody finds it any more. */
  readonly remove = (sessionId: SessionId): void => void this.#entries.delete(sessionId);

  /** Stops as an engine does: no new work, and every run is cancelled. */
  readonly stop = async (): Promise<void> => {
    this.#stopping.abort();
    await Promise.all([...this.#entries.keys()].map((sessionId) => this.cancelRun(sessionId)));
  };

  /**
   * Kills this host: nothing that it was asked for ever resolves again. The disk has everything that was synced and, of
   * what was not, as much of each log as `kept` says, in hundredths.
   */
  readonly crash = (kept: (sessionId: SessionId) => number = () => 0): MemoryDisk => {
    this.#dead = true;
    return new Map(
      [...this.#entries].map(([sessionId, { log }]) => {
        const unsynced = log.events.length - log.synced();
        return [
          sessionId,
          log.events.slice(0, log.synced() + Math.floor((unsynced * kept(sessionId)) / 100)),
        ];
      }),
    );
  };

  async #alive(): Promise<void> {
    if (this.#dead) await new Promise<never>(() => undefined);
  }

  #entry(sessionId: SessionId): Entry {
    const entry = this.#entries.get(sessionId);
    if (entry === undefined) throw new Error(`there is no session ${sessionId}`);
    return entry;
  }

  #facts(sessionId: SessionId): SessionFacts {
    const facts = factsOf(sessionId, this.#entry(sessionId).log.events);
    if (facts === null) throw new Error(`there is no session ${sessionId}`);
    return facts;
  }

  #add(sessionId: SessionId, earlier: readonly EventEnvelope[]): Entry {
    const onAppend = (event: EventEnvelope): void => {
      if (this.#dead) return;
      const { live } = this.#entry(sessionId);
      live?.inbox.apply(event);
      live?.ledger.apply(event);
    };
    const entry: Entry = {
      log: memoryLog({ sessionId, earlier, onAppend }),
      live: null,
      users: 0,
      run: null,
    };
    this.#entries.set(sessionId, entry);
    return entry;
  }

  #liveOf(sessionId: SessionId): LiveSession<DelegationLedger> {
    const entry = this.#entry(sessionId);
    if (entry.live !== null) return entry.live;
    if (this.#delegation === null) throw new Error('connect a delegation first');
    const { log } = entry;
    const init = { sessionId, log, events: log.events };
    entry.live = { inbox: new MemoryInbox(init), ledger: this.#delegation.openLedger(init) };
    return entry.live;
  }

  async #create(sessionId: SessionId, created: JsonObject): Promise<SessionFacts> {
    const { log } = this.#add(sessionId, []);
    log.append({ type: 'session_created', cwd: '/', ...created }, null);
    await log.sync();
    await this.#alive();
    return this.#facts(sessionId);
  }

  async #start(
    sessionId: SessionId,
    {
      clientRunId,
      trigger,
      input,
    }: { readonly clientRunId: string; readonly trigger: string; readonly input: string },
  ): Promise<StartedChildRun> {
    const entry = this.#entry(sessionId);
    if (entry.run !== null) throw new Error('a run is active');
    this.#liveOf(sessionId);
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
    await this.#alive();
    return { runId, done: ended.promise };
  }

  async #carry(sessionId: SessionId, run: ActiveRun, input: string): Promise<SessionRun> {
    const { log } = this.#entry(sessionId);
    const { signal } = run.cancelling;
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => aborted.reject(new Error('cancelled')), { once: true });
    void this.#loop?.(this.#runFor(sessionId, run, input)).then(run.outcome.resolve, run.outcome.reject);
    const payload = await Promise.race([run.outcome.promise, aborted.promise]).then(
      (text): EventPayload => ({ type: 'run_completed', final_text: text }),
      (error: unknown): EventPayload =>
        signal.aborted
          ? { type: 'run_cancelled', reason: 'parent' }
          : {
              type: 'run_failed',
              error: { code: codeOf(error) ?? 'model_error', message: messageOf(error) },
            },
    );
    await Promise.allSettled(run.calls);
    await this.#alive();
    log.append(payload, run.runId);
    await log.sync();
    await this.#alive();
    return this.#ended(sessionId, run.runId);
  }

  #ended(sessionId: SessionId, runId: RunId): SessionRun {
    const entry = this.#entry(sessionId);
    entry.run = null;
    // What came while it ended is a reason for another run.
    if (this.#loop !== undefined && !this.shutdown.aborted)
      queueMicrotask(() => this.#startWithMessages(sessionId));
    const run = runsOf(entry.log.events).find((candidate) => candidate.runId === runId);
    if (run === undefined) throw new Error('the log lost a run');
    return run;
  }

  #startWithMessages(sessionId: SessionId): void {
    const entry = this.#entries.get(sessionId);
    if (entry === undefined || entry.run !== null || this.#liveOf(sessionId).inbox.waiting === 0) return;
    const clientRunId = this.#ids.uuid();
    const claimed = this.#liveOf(sessionId).inbox.claim({
      runId: clientRunId,
      kind: 'run_start',
      canReply: () => false,
    });
    const input = claimed.map(({ text }) => text).join('\n\n');
    void this.#start(sessionId, { clientRunId, trigger: 'message', input }).catch(() => undefined);
  }

  #runFor(sessionId: SessionId, run: ActiveRun, input: string): MemoryRun {
    return {
      facts: this.#facts(sessionId),
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
    const { log } = this.#entry(sessionId);
    log.append({ type: 'tool_call_started', tool_call_id: callId, tool: name }, run.runId);
    await log.sync();
    const call = await this.#execute({ sessionId, name, args, callId }, run).then(callOf, failedCall);
    await this.#alive();
    log.append({ type: 'tool_call_terminated', tool_call_id: callId, ...call }, run.runId);
    await log.sync();
    return call;
  }

  async #execute(
    { sessionId, name, args, callId }: { sessionId: SessionId; name: string; args: unknown; callId: string },
    run: ActiveRun,
  ): Promise<ToolCompletion> {
    const { agent, cwd } = this.#facts(sessionId);
    const session = { id: sessionId, cwd, agent };
    const { signal } = run.cancelling;
    run.tools ??= this.#delegation?.tools(session) ?? null;
    const tool = (await run.tools)?.find(({ spec }) => spec.name === name);
    if (tool === undefined) throw toolError('not_published', `${name} is not published`);
    const prepared = await tool.prepare(args, { callId, session, turn: {}, model: null }, signal);
    return prepared.execute({ callId, report: async () => undefined, stdin: null }, signal);
  }
}

export interface CallOptions {
  readonly args: unknown;
  readonly callId?: string;
}

function callOf({ output, metadata = {}, error }: ToolCompletion): MemoryCall {
  const text = output.kind === 'single' ? output.text : '';
  const outcome = error === undefined ? 'completed' : outcomeOf(error.code);
  return { outcome, text, metadata, error: error ?? null };
}

function failedCall(thrown: unknown): MemoryCall {
  const error = {
    code: isAgentdError(thrown) ? thrown.code : 'execution_failed',
    message: messageOf(thrown),
  };
  return { outcome: outcomeOf(error.code), text: '', metadata: {}, error };
}

function outcomeOf(code: string): MemoryCall['outcome'] {
  return code === 'cancelled' ? 'cancelled' : 'failed';
}
