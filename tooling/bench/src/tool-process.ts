// A process of its own for the benchmarks of core tools: runs calls one after the other and prints what each took.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { systemClock, type JsonObject } from '@agentd/contract';
import { createCoreTools } from '@agentd/core-tools';

/** Given as JSON in the first argument. */
export interface ToolTask {
  readonly cwd: string;
  /** A tool of the package, or something `plain` that a tool is measured against. */
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly repeat?: number;
}

/** `plain:spawn` of `{command}`; `plain:html-to-text` of `{file}`, at width 80. */
type Plain = keyof typeof plain;

/** Printed as JSON. */
export interface ToolFigures {
  /** Of each call, in order. */
  readonly wallMs: readonly number[];
  readonly startRssMib: number;
  readonly endRssMib: number;
  readonly peakRssMib: number;
  /** Processes that this one has started and that still live; 0 where /proc is missing. */
  readonly children: number;
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

function isPlain(name: string): name is Plain {
  return Object.hasOwn(plain, name);
}

async function call(name: string, args: JsonObject): Promise<void> {
  const context = { callId: 'c', session, turn: {}, model: null };
  const prepared = await tools.get(name)?.prepare(args, context, signal);
  await prepared?.revalidate?.(signal);
  const done = await prepared?.execute({ callId: 'c', report: async () => {}, stdin: null }, signal);
  await prepared?.dispose?.();
  if (done === undefined || done.error !== undefined) throw new Error(`${name} failed`);
}

const plain = {
  'plain:spawn': plainSpawn,
  'plain:html-to-text': plainHtmlToText,
} as const;

async function plainHtmlToText({ file }: JsonObject): Promise<void> {
  const [{ convert }, html] = await Promise.all([import('html-to-text'), readFile(file as string, 'utf8')]);
  convert(html, { wordwrap: 80 });
}

async function plainSpawn({ command }: JsonObject): Promise<void> {
  const child = spawn('bash', ['-c', command as string], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}

function livingChildren(): number {
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids.filter((pid) => {
    try {
      // pid (name) state ppid …
      const [state, parent] =
        readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
      return Number(parent) === process.pid && state !== 'Z';
    } catch {
      return false;
    }
  }).length;
}

const startRssMib = process.memoryUsage.rss() / MIB;
const wallMs: number[] = [];
for (let round = 0; round < repeat; round++) {
  for (const { tool, args } of calls) {
    const started = performance.now();
    await (isPlain(tool) ? plain[tool](args) : call(tool, args));
    wallMs.push(performance.now() - started);
  }
}
const figures: ToolFigures = {
  wallMs,
  startRssMib,
  endRssMib: process.memoryUsage.rss() / MIB,
  peakRssMib: process.resourceUsage().maxRSS / 1024,
  children: livingChildren(),
};
process.stdout.write(JSON.stringify(figures));
