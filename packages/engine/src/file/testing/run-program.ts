import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';

/** A program of this folder in a process of its own. */
export interface TestProcess {
  /** The next line that it prints; rejects when it ends before. */
  readonly nextLine: () => Promise<string>;
  /** SIGKILL; resolves with the lines that were not asked for when the process is gone. */
  readonly kill: () => Promise<readonly string[]>;
}

/** Halves the start of a process that runs from source. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../../../node_modules/.cache/node', import.meta.url));

/** Whoever is left when its test is over, also by a failure, would keep Jest from ending: it holds our stderr. */
const living = new Set<ChildProcess>();
afterEach(() => {
  for (const child of living) child.kill('SIGKILL');
  living.clear();
});

export function runProgram(name: string, args: readonly string[]): TestProcess {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--conditions=@agentd/source', program, ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE } },
  );
  living.add(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = new Promise((resolve) => child.once('close', resolve));
  return {
    nextLine: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${name} ended before it printed a line`);
      return value;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
      const rest: string[] = [];
      for (let line = await lines.next(); line.done !== true; line = await lines.next())
        rest.push(line.value);
      return rest;
    },
  };
}
