import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program of this folder in a process of its own. */
export interface TestProcess {
  /** The next line that it prints; rejects when it ends before. */
  readonly nextLine: () => Promise<string>;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
  readonly exit: Promise<number | null>;
}

export function runProgram(name: string, args: readonly string[]): TestProcess {
  return start(process.execPath, nodeArguments(name, args));
}

/** The same with a limit on the size of any file that it writes, past which writing fails as on a full disk. */
export function runProgramWithFileLimit(
  kibibytes: number,
  name: string,
  args: readonly string[],
): TestProcess {
  const script = `ulimit -f ${kibibytes} && exec "$@"`;
  return start('bash', ['-c', script, 'bash', process.execPath, ...nodeArguments(name, args)]);
}

function nodeArguments(name: string, args: readonly string[]): readonly string[] {
  const program = fileURLToPath(new URL(name, import.meta.url));
  return ['--conditions=@agentd/source', program, ...args];
}

function start(command: string, args: readonly string[]): TestProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    nextLine: async () => {
      const { value, done } = await lines.next();
      if (done === true)
        throw new Error(`${args.join(' ')} ended with ${await exit} before it printed a line`);
      return value;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
    exit,
  };
}
