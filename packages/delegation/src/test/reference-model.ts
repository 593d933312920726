/** One prompt for one child, as the test asked for it. */
export interface Task {
  readonly callId: string;
  readonly parent: string;
  /** The parent's run that asked. */
  readonly parentRun: string;
  readonly child: string;
  readonly background: boolean;
  state: 'waiting' | 'started' | 'ended';
  status: string | null;
  /** Through the inbox. */
  told: boolean;
}

interface Node {
  readonly parent: string | null;
  run: string | null;
}

/**
 * What ought to be: plain lists, worked through from the front after each step, with no events, no promises and no disk.
 */
export class ReferenceModel {
  readonly tasks: Task[] = [];
  readonly nodes = new Map<string, Node>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  depthOf(id: string): number {
    const parent = this.nodes.get(id)?.parent ?? null;
    return parent === null ? 0 : this.depthOf(parent) + 1;
  }

  runOf(id: string): string | null {
    return this.nodes.get(id)?.run ?? null;
  }

  add(id: string, parent: string | null): void {
    if (!this.nodes.has(id)) this.nodes.set(id, { parent, run: null });
  }

  prompt(id: string, run: string): void {
    this.#node(id).run = run;
  }

  get open(): readonly Task[] {
    return this.tasks.filter(({ state }) => state !== 'ended');
  }

  #turnTakers(): readonly Task[] {
    return this.open.filter((task) => this.#takesTurns(task));
  }

  #takesTurns({ background, parent }: Pick<Task, 'background' | 'parent'>): boolean {
    return background && this.depthOf(parent) === 0;
  }

  isFull(parent: string, background: boolean): boolean {
    return this.#takesTurns({ parent, background }) && this.#turnTakers().length >= 5 * this.#limit;
  }

  admit(task: Pick<Task, 'callId' | 'parent' | 'child' | 'background' | 'parentRun'>): void {
    this.add(task.child, task.parent);
    const state = this.#takesTurns(task) ? 'waiting' : 'started';
    this.tasks.push({ ...task, state, status: null, told: false });
    this.advance();
  }

  advance(): void {
    const free = this.#limit - this.#turnTakers().filter(({ state }) => state === 'started').length;
    for (const task of this.#turnTakers()
      .filter(({ state }) => state === 'waiting')
      .slice(0, Math.max(0, free)))
      task.state = 'started';
    for (const [id, node] of this.nodes) {
      if (node.run !== null) continue;
      // A child that waits in front of another prompt for the same child keeps that one waiting.
      const [first] = this.open.filter(({ child }) => child === id);
      if (first?.state === 'started') node.run = first.callId;
    }
  }

  end(id: string, status: string): void {
    const node = this.#node(id);
    const task = this.open.find(({ callId, child }) => child === id && callId === node.run);
    node.run = null;
    if (task !== undefined) this.close(task, status, task.background);
    this.advance();
  }

  /** By a user. */
  cancel(id: string): void {
    const run = this.runOf(id);
    this.#cancelChildren(id, run);
    this.end(id, 'cancelled');
  }

  /** By `cancel_subagent`. */
  cancelChild(id: string): void {
    for (const task of this.open.filter(({ child }) => child === id)) this.#cancelTask(task);
    this.#stop(id);
    this.advance();
  }

  close(task: Task, status: string, told: boolean): void {
    task.state = 'ended';
    task.status = status;
    task.told = told;
  }

  /** What a run had started, and all below it, unless another run still has a prompt there. */
  #cancelChildren(id: string, run: string | null): void {
    const ofRun = this.tasks.filter(({ parent, parentRun }) => parent === id && parentRun === run);
    for (const task of ofRun) if (task.state !== 'ended') this.#cancelTask(task);
    for (const { child } of ofRun) if (!this.open.some((task) => task.child === child)) this.#stopAll(child);
  }

  #cancelTask(task: Task): void {
    if (this.runOf(task.child) === task.callId) this.#stop(task.child);
    this.close(task, 'cancelled', false);
  }

  #stop(id: string): void {
    const run = this.runOf(id);
    if (run === null || !this.nodes.has(id)) return;
    this.#node(id).run = null;
    this.#cancelChildren(id, run);
  }

  #stopAll(id: string): void {
    this.#stop(id);
    for (const task of this.open.filter(({ parent }) => parent === id)) this.#cancelTask(task);
    for (const [child, { parent }] of this.nodes) if (parent === id) this.#stopAll(child);
  }

  #node(id: string): Node {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`the model knows no ${id}`);
    return node;
  }
}
