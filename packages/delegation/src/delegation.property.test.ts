import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope, RunStatus } from '@agentd/contract';
import { countingIds, flush } from '@agentd/contract/testing';
import fc from 'fast-check';
import type { DelegationRecord } from './delegation-record.ts';
import { ReferenceModel, type Task } from './test/reference-model.ts';
import { world, type World } from './test/world.ts';
import type { MemoryDisk } from './testing/memory-store.ts';
import { runByClientId, runsOf, textOf } from './testing/memory-session.ts';

type Action =
  | { readonly do: 'delegate' | 'resume'; readonly who: number; readonly background: boolean }
  | {
      readonly do: 'end' | 'cancel' | 'cancel child' | 'repeat' | 'page out' | 'message';
      readonly who: number;
    }
  | { readonly do: 'fail'; readonly who: number };

/** An action, and how many microtasks later the process dies, if it does; and what of each log the disk has kept. */
interface Step {
  readonly action: Action;
  readonly dies: { readonly after: number; readonly kept: readonly number[] } | null;
}

const who = fc.nat(30);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('delegate' as const), who, background: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), who, background: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('end' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), who }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('fail', 'cancel', 'cancel child', 'repeat', 'page out', 'message' as const),
      who,
    }),
  },
);
const dies = fc.record({ after: fc.nat(60), kept: fc.array(fc.nat(100), { minLength: 1, maxLength: 7 }) });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    action,
    dies: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: dies }),
  }),
  { minLength: 3, maxLength: 60, size: 'max' },
);

/** One tree, over several lives of its process, and the model beside it. */
class Tree {
  readonly model: ReferenceModel;
  readonly #settings;
  readonly #ids = countingIds();
  #world: World;
  #root = '';
  #calls = 0;
  #prompts = 0;
  #existing: ReadonlySet<string> = new Set();
  /** Calls that have not resolved, by session. */
  #waiting: { readonly session: string; readonly callId: string }[] = [];

  constructor(settings: { readonly maxConcurrency: number; readonly maxDepth: number }) {
    this.#settings = settings;
    this.model = new ReferenceModel(settings.maxConcurrency);
    this.#world = world({ ids: this.#ids, settings });
  }

  get #host() {
    return this.#world.host;
  }

  async begin(): Promise<void> {
    this.#root = (await this.#host.addRoot('lead')).sessionId;
    this.model.add(this.#root, null);
    await this.#prompt();
  }

  async #prompt(): Promise<void> {
    if (this.model.runOf(this.#root) !== null) return;
    await this.#host.prompt(this.#root, 'go');
    this.model.prompt(this.#root, `prompt ${(this.#prompts += 1)}`);
  }

  async do({ action, dies }: Step): Promise<void> {
    await this.#prompt();
    const foretell = this.#begin(action);
    if (foretell === null) return;
    if (dies === null) {
      await flush();
      foretell();
    } else {
      await this.#dieAfter(dies);
    }
    this.check();
  }

  /** Begins the action; what is returned tells the model of it. Null where it makes no sense now. */
  #begin(action: Action): (() => void) | null {
    switch (action.do) {
      case 'delegate':
        return this.#delegate(action, null);
      case 'resume':
        return this.#resume(action);
      case 'end':
        return this.#end(action.who, 'completed');
      case 'fail':
        return this.#end(action.who, 'failed');
      case 'cancel':
        return this.#cancel(action.who);
      case 'cancel child':
        return this.#cancelChild(action.who);
      case 'repeat':
        return this.#repeat(action.who);
      case 'message':
        return this.#message(action.who);
      default:
        return this.#pageOut(action.who);
    }
  }

  #pick(who: number, fits: (id: string) => boolean): string | null {
    const fitting = [...this.model.nodes.keys()].filter(fits);
    return fitting[who % Math.max(1, fitting.length)] ?? null;
  }

  #atWork(id: string): boolean {
    return this.model.runOf(id) !== null;
  }

  #delegate({ who, background }: { who: number; background: boolean }, child: string | null) {
    const parent =
      child === null
        ? this.#pick(
            who,
            (id) => this.#atWork(id) && this.model.depthOf(id) < this.#settings.maxDepth && !this.#waits(id),
          )
        : (this.model.nodes.get(child)?.parent ?? null);
    if (parent === null || this.model.nodes.size > 25) return null;
    const callId = `call-${(this.#calls += 1)}`;
    const parentRun = this.model.runOf(parent) ?? '';
    const full = this.model.isFull(parent, background);
    const args = { description: callId, prompt: 'p', agent_type: 'explore', background };
    const resumed = child === null ? {} : { resume_session_id: child };
    this.#call(parent, 'delegate_subagent', { callId, args: { ...args, ...resumed } });
    return () => {
      const record = this.#record(parent, callId);
      expect(record === null).toBe(full);
      if (record !== null) this.model.admit({ callId, parent, parentRun, child: record.childId, background });
    };
  }

  #resume({ who, background }: { who: number; background: boolean }) {
    const child = this.#pick(who, (id) => {
      const parent = this.model.nodes.get(id)?.parent ?? null;
      return parent !== null && this.#atWork(parent) && !this.#waits(parent);
    });
    return child === null ? null : this.#delegate({ who, background }, child);
  }

  #end(who: number, status: 'completed' | 'failed') {
    const id = this.#pick(who, (id) => this.#atWork(id) && !this.#waits(id));
    if (id === null) return null;
    void this.#host.end(id, status === 'completed' ? `end of ${id}` : new Error('no model'));
    return () => this.model.end(id, status);
  }

  #cancel(who: number) {
    const id = this.#pick(who, (id) => this.#atWork(id));
    if (id === null) return null;
    void this.#host.cancelRun(id);
    return () => this.model.cancel(id);
  }

  #cancelChild(who: number) {
    const child = this.#pick(who, (id) => {
      const parent = this.model.nodes.get(id)?.parent ?? null;
      return parent !== null && this.#atWork(parent) && !this.#waits(parent);
    });
    if (child === null) return null;
    const callId = `call-${(this.#calls += 1)}`;
    const parent = this.model.nodes.get(child)?.parent ?? '';
    this.#call(parent, 'cancel_subagent', { callId, args: { session_id: child } });
    return () => this.model.cancelChild(child);
  }

  #repeat(who: number) {
    const tasks = this.model.tasks.filter(
      ({ background, parent, parentRun }) =>
        background && this.model.runOf(parent) === parentRun && !this.#waits(parent),
    );
    const task = tasks[who % Math.max(1, tasks.length)];
    if (task === undefined) return null;
    const args = { description: 'again', prompt: 'p', agent_type: 'explore', background: true };
    const before = this.#world.host.ledger(task.parent).unfinished.length;
    this.#call(task.parent, 'delegate_subagent', { callId: task.callId, args });
    return () => expect(this.#host.ledger(task.parent).unfinished).toHaveLength(before);
  }

  /** A run that is nobody's delegation, as a message would start one (DLG-7). */
  #message(who: number) {
    const id = this.#pick(who, (id) => !this.#atWork(id));
    if (id === null) return null;
    void this.#host.prompt(id, 'a message');
    const run = `prompt ${(this.#prompts += 1)}`;
    return () => this.model.prompt(id, run);
  }

  #pageOut(who: number) {
    const id = this.#pick(who, () => true);
    if (id !== null) this.#host.pageOut(id);
    return id === null ? null : () => undefined;
  }

  #call(session: string, tool: string, options: { readonly callId: string; readonly args: object }): void {
    const entry = { session, callId: options.callId };
    this.#waiting.push(entry);
    const settled = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
    void this.#host.call(session, tool, options).finally(settled);
  }

  /** An engine neither ends a run nor makes another call while one waits. */
  #waits(id: string): boolean {
    return this.#waiting.some(({ session }) => session === id);
  }

  #record(parent: string, callId: string): DelegationRecord | null {
    const { unfinished, finished } = this.#host.ledger(parent);
    return [...unfinished, ...finished].find(({ toolCallId }) => toolCallId === callId) ?? null;
  }

  async #dieAfter({ after, kept }: NonNullable<Step['dies']>): Promise<void> {
    for (let tick = 0; tick < after; tick += 1) await Promise.resolve();
    const order = [...this.model.nodes.keys()];
    const disk = this.#host.crash((id) => kept[Math.max(0, order.indexOf(id)) % kept.length] ?? 0);
    this.#waiting = [];
    this.#world = world({ ids: this.#ids, settings: this.#settings, disk });
    await this.#world.delegation.treeOpened(this.#root);
    await flush();
    await this.#adopt(disk);
  }

  /**
   * What the model ought to be after a crash, from what the disk held of the runs alone: who had begun is as its own
   * log says and its parent is told, unless the parent's run was cancelled; who waited in the foreground has ended;
   * who had not begun goes on.
   */
  async #adopt(disk: MemoryDisk): Promise<void> {
    this.#existing = new Set((await this.#host.tree(this.#root)).map(({ sessionId }) => sessionId));
    this.#adoptCallInFlight();
    for (const node of this.model.nodes.values()) node.run = null;
    for (const task of this.model.open) this.#adoptTask(task, disk);
    this.model.advance();
  }

  /** The call that the crash met is there with its child, or not at all. */
  #adoptCallInFlight(): void {
    const callId = `call-${this.#calls}`;
    if (this.model.tasks.some((task) => task.callId === callId)) return;
    for (const parent of this.model.nodes.keys()) {
      if (!this.#created(parent)) continue;
      const record = this.#record(parent, callId);
      if (record === null) continue;
      const { childId: child, background } = record;
      if (this.#created(child)) this.model.add(child, parent);
      const parentRun = this.model.runOf(parent) ?? '';
      this.model.tasks.push({
        callId,
        parent,
        parentRun,
        child,
        background,
        state: 'waiting',
        status: null,
        told: false,
      });
      if (!background || this.model.depthOf(parent) > 0) this.model.tasks.at(-1)!.state = 'started';
      return;
    }
  }

  #adoptTask(task: Task, disk: MemoryDisk): void {
    const record = this.#record(task.parent, task.callId)!;
    const own = runByClientId(eventsOn(disk, task.child), `delegation:${record.invocationId}`)?.status;
    const parentRuns = runsOf(eventsOn(disk, task.parent));
    const parentStatus = parentRuns.find(({ runId }) => runId === record.parentRunId)?.status;
    const recorded = endOnDisk(disk, record);
    const callLost = !task.background && this.#lostCall(task);
    const waits = task.background || callLost;
    if (recorded !== null) {
      const told = recorded === 'inbox' || (recorded === 'call' && callLost);
      this.model.close(task, record.end!.status, told);
    } else if (parentStatus === 'cancelled') {
      this.model.close(task, statusOr(own, 'cancelled'), hasFinished(own) && waits);
    } else if (!task.background || own !== undefined) {
      this.model.close(task, statusOr(own, 'interrupted'), waits);
    }
  }

  /** A recovery has ended the call: nobody has read what it waited for. */
  #lostCall({ parent, callId }: Task): boolean {
    const { events } = this.#host.log(parent);
    return events.some(
      ({ payload }) => payload['tool_call_id'] === callId && payload['outcome'] === 'interrupted',
    );
  }

  #created(id: string): boolean {
    return this.#existing.has(id);
  }

  check(): void {
    const ids = [...this.model.nodes.keys()];
    expect(ids.map((id) => this.#stateOf(id))).toEqual(ids.map((id) => this.#modelOf(id)));
    const turns = this.model.open.filter(({ parent, background }) => parent === this.#root && background);
    const started = turns.filter(({ state }) => state === 'started');
    expect(started.length <= this.#settings.maxConcurrency).toBe(true);
  }

  /** What the logs say, in the words of the model. */
  #stateOf(id: string) {
    const tasks = this.model.tasks.filter(({ parent }) => parent === id);
    return {
      id,
      atWork: runsOf(this.#host.log(id).events).filter(({ status }) => status === 'running').length,
      told: this.#toldTo(id),
      tasks: tasks.map(({ callId }) => {
        const record = this.#record(id, callId);
        return `${callId} ${record?.phase} ${record?.end?.status ?? ''}`;
      }),
    };
  }

  #modelOf(id: string) {
    const tasks = this.model.tasks.filter(({ parent }) => parent === id);
    const phases = { waiting: 'queued', started: 'started', ended: 'finished' };
    const told = tasks.filter((task) => task.told).map(({ callId }) => callId);
    return {
      id,
      atWork: this.#atWork(id) ? 1 : 0,
      told: told.toSorted(),
      tasks: tasks.map(({ callId, state, status }) => `${callId} ${phases[state]} ${status ?? ''}`),
    };
  }

  /** By the keys of the messages: once each, or this shows it. */
  #toldTo(id: string): readonly string[] {
    return this.#host
      .log(id)
      .events.filter(({ payload }) => payload.type === 'message_accepted')
      .map(({ payload }) => textOf(payload, 'idempotency_key').split(':').at(-1) ?? '')
      .toSorted();
  }

  /** Everybody comes to an end: nothing waits for ever, whatever the limit and the depth. */
  async finish(): Promise<void> {
    const next = () => this.#pick(0, (id) => this.#atWork(id) && !this.#waits(id));
    for (let id = next(); id !== null; id = next()) {
      const ending = id;
      void this.#host.end(ending, 'at last');
      await flush();
      this.model.end(ending, 'completed');
    }
    this.check();
    expect(this.model.open).toEqual([]);
    expect(this.#waiting).toEqual([]);
    expect(this.#world.delegation.quiet(this.#root)).toBe(true);
    await this.#world.delegation.settled(this.#root);
  }
}

function eventsOn(disk: MemoryDisk, id: string): readonly EventEnvelope[] {
  return disk.get(id) ?? [];
}

function hasFinished(status: RunStatus | undefined): boolean {
  return status === 'completed' || status === 'failed';
}

/** Of a run that may have been cut short, or may never have begun. */
function statusOr(status: RunStatus | undefined, otherwise: RunStatus): RunStatus {
  return status === 'running' ? 'interrupted' : (status ?? otherwise);
}

/** To whom the disk says that the end was told; null where it knows of no end. */
function endOnDisk(disk: MemoryDisk, { invocationId }: DelegationRecord): string | null {
  for (const events of disk.values())
    for (const { payload } of events)
      if (payload.type === 'delegation_finished' && payload['invocation_id'] === invocationId)
        return textOf(payload, 'delivery');
  return null;
}

const settings = fc.record({
  maxConcurrency: fc.integer({ min: 1, max: 3 }),
  maxDepth: fc.integer({ min: 1, max: 3 }),
});

describe('delegation beside plain lists', () => {
  it('tells each end once, in order and within its limits, over cancels, failures and crashes at any point [DLG-9] [DLG-10] [DLG-11] [SCH-6] [field F5]', async () => {
    await fc.assert(
      fc.asyncProperty(steps, settings, async (steps, limits) => {
        const tree = new Tree(limits);
        await tree.begin();
        for (const step of steps) await tree.do(step);
        await tree.finish();
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
