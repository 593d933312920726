import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ChildTask } from './child.ts';

const SCRIPT = fileURLToPath(new URL('./child.ts', import.meta.url));

/** Halves the start of a process that runs from source. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/node', import.meta.url));

export interface ChildEnd {
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ChildOptions {
  /** A command that runs the child: its words come before Node's. */
  readonly under?: readonly string[];
  /** Kills the child this long after its first line. */
  readonly killAfterMs?: number;
}

/** Runs one task of `child.ts` to its end, however it ends. */
export async function runChild(
  task: ChildTask,
  { under = [], killAfterMs }: ChildOptions = {},
): Promise<ChildEnd> {
  const words = [...under, process.execPath, '--conditions=@agentd/source', SCRIPT];
  const [command = '', ...rest] = words;
  const child = spawn(command, rest, {
    stdio: 'pipe',
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  child.stdin.end(JSON.stringify(task));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  const closed = once(child, 'close');
  if (killAfterMs !== undefined) {
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), killAfterMs));
  }
  const [, signal] = (await closed) as [number | null, string | null];
  return { signal, stdout, stderr };
}
