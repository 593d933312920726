import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');

/** The built command line, as `npm run agentd` starts it. */
export const AGENTD: readonly string[] = [process.execPath, `${ROOT}/apps/agentd/dist/main.js`];

export interface RunFigures {
  readonly wallMs: number;
  /** The largest resident set of the process itself, its children not counted; 0 where /proc is missing. */
  readonly peakRssMib: number;
  readonly exitCode: number | null;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs a command to its end; what it prints is read and thrown away. */
export async function timeRun(
  command: readonly string[],
  { env, cwd }: RunOptions = {},
): Promise<RunFigures> {
  const [file = '', ...args] = command;
  const started = performance.now();
  const child = spawn(file, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let peak = 0;
  // The high-water mark only rises, so a coarse look loses at most the last few milliseconds.
  const watch = setInterval(() => (peak = Math.max(peak, highWaterMib(child.pid))), 10);
  let stderr = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exitCode = await new Promise<number | null>((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  }).finally(() => clearInterval(watch));
  return { wallMs: performance.now() - started, peakRssMib: peak, exitCode, stderr };
}

function highWaterMib(pid: number | undefined): number {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The value below which `share` of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Runs two commands in turn, A B A B …, after one uncounted pair. */
export async function inTurn<A, B>(
  pairs: number,
  a: () => Promise<A>,
  b: () => Promise<B>,
): Promise<readonly [A, B][]> {
  await a();
  await b();
  const figures: [A, B][] = [];
  for (let pair = 0; pair < pairs; pair++) figures.push([await a(), await b()]);
  return figures;
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
