import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@agentd/contract';
import type { PreparedCall, PrepareContext, Tool, ToolCompletion, ToolProgress } from '@agentd/contract';
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
  readonly elapsedMs: number;
}

const CALL_ID = 'c1';
const NEVER = new AbortController().signal;

export const bashTool = createBashTool({ environment: process.env, withheld: [], clock: systemClock });

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
  const startedAt = performance.now();
  const completion = await call.execute({ callId: CALL_ID, report, stdin }, signal);
  return { ...completion, ...texts, reports, elapsedMs: performance.now() - startedAt };
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

/** Resolves once `condition` holds; rejects after `ms`. */
export async function eventually(condition: () => boolean, ms = 5000): Promise<void> {
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
