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

/** The programs of this folder, written out so that tools see that they are used. */
const PROGRAMS = {
  'capture-and-wait': import.meta.resolve('./capture-and-wait.ts'),
  'capture-giant': import.meta.resolve('./capture-giant.ts'),
  'capture-under-limit': import.meta.resolve('./capture-under-limit.ts'),
  'hold-lock': import.meta.resolve('./hold-lock.ts'),
  'publish-list': import.meta.resolve('./publish-list.ts'),
  'publish-loop': import.meta.resolve('./publish-loop.ts'),
};

type ProgramName = keyof typeof PROGRAMS;

export function runProgram(name: ProgramName, args: readonly string[]): TestProcess {
  return start(process.execPath, nodeArguments(name, args));
}

/** The same with a limit on the size of any file that it writes, past which writing fails as on a full disk. */
export function runProgramWithFileLimit(
  kibibytes: number,
  name: ProgramName,
  args: readonly string[],
): TestProcess {
  const script = `ulimit -f ${kibibytes} && exec "$@"`;
  return start('bash', ['-c', script, 'bash', process.execPath, ...nodeArguments(name, args)]);
}

function nodeArguments(name: ProgramName, args: readonly string[]): readonly string[] {
  return ['--conditions=@agentd/source', fileURLToPath(PROGRAMS[name]), ...args];
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
