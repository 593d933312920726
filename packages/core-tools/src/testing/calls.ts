import { accessSync, constants } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  randomIds,
  type ExecuteContext,
  type PrepareContext,
  type PreparedCall,
  type Tool,
  type ToolCompletion,
} from '@agentd/contract';

const NEVER = new AbortController().signal;

/** A fresh folder with its real path; `await using` removes it. */
export async function scratchFolder(parent = tmpdir()): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await realpath(await mkdtemp(join(parent, 'agentd-core-tools-')));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Where files are in memory, if the system offers that: for hundreds of rounds whose subject is not the disk. */
export const FAST_PARENT = isWritable('/dev/shm') ? '/dev/shm' : tmpdir();

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export function contextIn(cwd: string, turn: object = {}): PrepareContext {
  return {
    callId: randomIds.uuid(),
    session: { id: randomIds.uuid(), cwd, agent: 'default' },
    turn,
    model: null,
  };
}

const EXECUTION: ExecuteContext = { callId: 'c', report: async () => {}, stdin: null };

/** What an engine does under the key lock once a call is permitted: revalidate, then execute (SCH-11). */
export async function finishCall(call: PreparedCall, signal: AbortSignal = NEVER): Promise<ToolCompletion> {
  try {
    await call.revalidate?.(signal);
    return await call.execute(EXECUTION, signal);
  } finally {
    await call.dispose?.();
  }
}

export function prepareCall(tool: Tool, args: unknown, context: PrepareContext): Promise<PreparedCall> {
  return tool.prepare(args, context, NEVER);
}

/** One call from arguments to completion. */
export async function callTool(tool: Tool, args: unknown, context: PrepareContext): Promise<ToolCompletion> {
  return finishCall(await prepareCall(tool, args, context));
}

/** The text that a model would read of a single output. */
export function textOf({ output }: ToolCompletion): string {
  return output.kind === 'single' ? output.text : '';
}

/** The calls of one turn as an engine runs them: all prepared first, then at once, equal keys one after the other (SCH-4, SCH-5). */
export async function runTurn(
  calls: readonly { readonly tool: Tool; readonly args: unknown }[],
  cwd: string,
): Promise<readonly PromiseSettledResult<ToolCompletion>[]> {
  const turn = {};
  const prepared: PreparedCall[] = [];
  for (const { tool, args } of calls) prepared.push(await prepareCall(tool, args, contextIn(cwd, turn)));
  const lanes = new Map<string, Promise<unknown>>();
  return Promise.allSettled(
    prepared.map((call) => {
      const key = call.serializationKey ?? randomIds.uuid();
      const before = lanes.get(key) ?? Promise.resolve();
      const done = before.then(() => finishCall(call));
      lanes.set(
        key,
        done.then(
          () => undefined,
          () => undefined,
        ),
      );
      return done;
    }),
  );
}
