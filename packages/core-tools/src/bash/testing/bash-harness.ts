import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@agentd/contract';
import type {
  Clock,
  PreparedCall,
  PrepareContext,
  Tool,
  ToolCompletion,
  ToolProgress,
} from '@agentd/contract';
import { createBashTool } from '../bash-tool.ts';

/** Arguments of one call and what stands around it. */
export interface CallSetup {
  readonly cwd?: string;
  readonly timeout?: number;
  readonly interactive?: boolean;
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
  readonly report?: (progress: ToolProgress) => Promise<void>;
  readonly tool?: Tool;
  /** Characters of a stream past which no more of it is kept; all of it if missing. */
  readonly keepAtMost?: number;
}

export interface CallResult extends ToolCompletion {
  readonly stdout: string;
  readonly stderr: string;
  readonly reports: readonly ToolProgress[];
}

const CALL_ID = 'c1';
const NEVER = new AbortController().signal;

export const bashTool = bashWith(systemClock);

/** The tool with another clock, and with more variables for its commands. */
export function bashWith(clock: Clock, variables: NodeJS.ProcessEnv = {}): Tool {
  return createBashTool({ environment: { ...process.env, ...variables }, withheld: [], clock });
}

/**
 * The machine's clock, but that timers of `heldMs` wait for `expire`. A time limit then expires when the command has
 * come to the point that the test is about, however slowly it got there.
 */
export function heldLimit(
  heldMs: number,
  base: Clock = systemClock,
): { readonly clock: Clock; readonly expire: () => void } {
  const expired = Promise.withResolvers<void>();
  const after: Clock['after'] = (ms, run) => {
    if (ms !== heldMs) return base.after(ms, run);
    let isCancelled = false;
    void expired.promise.then(() => (isCancelled ? undefined : run()));
    return () => (isCancelled = true);
  };
  return { clock: { now: base.now, after }, expire: expired.resolve };
}

/**
 * Real timers, but its time is what they were set to and never how late they came. So it tells how long somebody chose
 * to wait, and nothing of how busy the machine is. `base` runs the timers.
 */
export function waitingClock(base: Clock = systemClock): Clock {
  let now = base.now();
  return {
    now: () => now,
    after: (ms, run) => {
      const due = now + ms;
      return base.after(ms, () => {
        now = Math.max(now, due);
        run();
      });
    },
  };
}

/**
 * The machine's clock and the sum of all waits that ran to their end, but for those of collecting small output. Where
 * output comes all the time the tool looks at the time itself; on a busy machine it then waits less, never more.
 */
export function countedWaits(base: Clock = systemClock): {
  readonly clock: Clock;
  readonly sumMs: () => number;
} {
  let sumMs = 0;
  const after: Clock['after'] = (ms, run) =>
    base.after(ms, () => {
      if (ms > 10) sumMs += ms;
      run();
    });
  return { clock: { now: base.now, after }, sumMs: () => sumMs };
}

/** Timers that take so many times as long: a busy machine has that much more room before the tool gives up on it. */
export function slowTimers(factor: number): Clock {
  return { now: systemClock.now, after: (ms, run) => systemClock.after(ms * factor, run) };
}

export function prepareContext(cwd: string): PrepareContext {
  return {
    callId: CALL_ID,
    session: { id: 's1', cwd, agent: 'default' },
    turn: {},
    model: null,
  };
}

export function prepareBash(args: object, { cwd = tmpdir(), tool = bashTool }: CallSetup = {}) {
  return tool.prepare(args, prepareContext(cwd), NEVER);
}

/** Prepares, revalidates and executes one command, as the runtime would. */
export async function runBash(command: string, setup: CallSetup = {}): Promise<CallResult> {
  const { timeout, interactive } = setup;
  const args = {
    command,
    ...(timeout === undefined ? {} : { timeout }),
    ...(interactive === undefined ? {} : { interactive }),
  };
  const call = await prepareBash(args, setup);
  await call.revalidate?.(NEVER);
  return executeBash(call, setup);
}

export async function executeBash(call: PreparedCall, setup: CallSetup = {}): Promise<CallResult> {
  const { stdin = null, signal = NEVER, report: onReport, keepAtMost = Number.POSITIVE_INFINITY } = setup;
  const texts = { stdout: '', stderr: '' };
  const reports: ToolProgress[] = [];
  const report = async (progress: ToolProgress): Promise<void> => {
    if (texts.stdout.length < keepAtMost) reports.push(progress);
    for (const { stream, text } of progress.chunks ?? []) {
      const name = stream as 'stdout' | 'stderr';
      if (texts[name].length < keepAtMost) texts[name] += text;
    }
    await onReport?.(progress);
  };
  const completion = await call.execute({ callId: CALL_ID, report, stdin }, signal);
  return { ...completion, ...texts, reports };
}

/** Living processes whose command line holds `marker`. */
export function processesWith(marker: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    const state = readProc(`${pid}/stat`).split(') ').at(-1)?.[0];
    return state !== 'Z' && Number(pid) !== process.pid && readProc(`${pid}/cmdline`).includes(marker);
  });
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

/** Resolves once `condition` holds; rejects after `ms`, which only a defect takes. */
export async function eventually(condition: () => boolean, ms = 60_000): Promise<void> {
  const until = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > until) throw new Error(`not so within ${ms} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A marker that no other test and no other run uses. */
let markers = 0;
export function uniqueMarker(): string {
  markers += 1;
  return `mark-${process.pid}-${Date.now()}-${markers}`;
}

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentd-bash-')));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
