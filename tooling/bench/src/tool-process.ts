// A process of its own for the benchmarks of core tools: runs calls one after the other and prints what each took.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { systemClock, type JsonObject } from '@agentd/contract';
import { createCoreTools } from '@agentd/core-tools';

/** Given as JSON in the first argument. */
export interface ToolTask {
  readonly cwd: string;
  /** Without a tool, its command is spawned plainly. */
  readonly calls: readonly { readonly tool: string | null; readonly args: JsonObject }[];
  readonly repeat?: number;
}

/** Printed as JSON. */
export interface ToolFigures {
  /** Of each call, in order. */
  readonly wallMs: readonly number[];
  readonly startRssMib: number;
  readonly endRssMib: number;
  readonly peakRssMib: number;
}

const MIB = 1024 * 1024;
const { cwd, calls, repeat = 1 } = JSON.parse(process.argv[2] ?? '{}') as ToolTask;
const tools = new Map(
  createCoreTools({
    artifacts: null,
    stages: null,
    home: homedir(),
    environment: process.env,
    withheld: [],
    clock: systemClock,
  }).map((tool) => [tool.spec.name, tool]),
);
const session = { id: 'bench', agent: 'default', cwd };
const { signal } = new AbortController();

async function call(name: string, args: JsonObject): Promise<void> {
  const context = { callId: 'c', session, turn: {}, model: null };
  const prepared = await tools.get(name)?.prepare(args, context, signal);
  await prepared?.revalidate?.(signal);
  const done = await prepared?.execute({ callId: 'c', report: async () => {}, stdin: null }, signal);
  await prepared?.dispose?.();
  if (done === undefined || done.error !== undefined) throw new Error(`${name} failed`);
}

async function plainSpawn({ command }: JsonObject): Promise<void> {
  const child = spawn('bash', ['-c', command as string], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}

const startRssMib = process.memoryUsage.rss() / MIB;
const wallMs: number[] = [];
for (let round = 0; round < repeat; round++) {
  for (const { tool, args } of calls) {
    const started = performance.now();
    await (tool === null ? plainSpawn(args) : call(tool, args));
    wallMs.push(performance.now() - started);
  }
}
const figures: ToolFigures = {
  wallMs,
  startRssMib,
  endRssMib: process.memoryUsage.rss() / MIB,
  peakRssMib: process.resourceUsage().maxRSS / 1024,
};
process.stdout.write(JSON.stringify(figures));
