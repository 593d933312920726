import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';

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
  'capture-on-small-disk': import.meta.resolve('./capture-on-small-disk.ts'),
  'capture-read-only': import.meta.resolve('./capture-read-only.ts'),
  'capture-under-limit': import.meta.resolve('./capture-under-limit.ts'),
  'capture-without-handles': import.meta.resolve('./capture-without-handles.ts'),
  'collect-loop': import.meta.resolve('./collect-loop.ts'),
  'hold-lock': import.meta.resolve('./hold-lock.ts'),
  'kill-at-step': import.meta.resolve('./kill-at-step.ts'),
  'publish-list': import.meta.resolve('./publish-list.ts'),
  'publish-loop': import.meta.resolve('./publish-loop.ts'),
};

/** Whoever is left when its test is over, also by a failure, would keep Jest from ending: it holds our stderr. */
const living = new Set<ChildProcess>();
afterEach(() => {
  for (const child of living) child.kill('SIGKILL');
  living.clear();
});

/** Halves the start of a process that runs from source. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/node', import.meta.url));

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
  return startInShell(`ulimit -f ${kibibytes} && exec "$@"`, name, args);
}

/** The same with a limit on the number of files that it has open. */
export function runProgramWithHandleLimit(
  handles: number,
  name: ProgramName,
  args: readonly string[],
): TestProcess {
  return startInShell(`ulimit -n ${handles} && exec "$@"`, name, args);
}

/** In a name space of its own, in which a file system can be mounted that vanishes with the process. */
const OWN_MOUNTS = 'unshare --map-root-user --mount';

/** Whether this machine lets us mount. */
export const canMount: boolean =
  spawnSync('bash', ['-c', `${OWN_MOUNTS} mount -t tmpfs tmpfs /tmp`]).status === 0;

/** The same on a disk of that size of its own, whose folder is the program's argument. */
export function runProgramOnSmallDisk(kibibytes: number, name: ProgramName, folder: string): TestProcess {
  const mount = `mount -t tmpfs -o size=${kibibytes}k tmpfs "\${@: -1}" && exec "$@"`;
  return startInShell(`exec ${OWN_MOUNTS} bash -c '${mount}' bash "$@"`, name, [folder]);
}

function startInShell(script: string, name: ProgramName, args: readonly string[]): TestProcess {
  return start('bash', ['-c', script, 'bash', process.execPath, ...nodeArguments(name, args)]);
}

function nodeArguments(name: ProgramName, args: readonly string[]): readonly string[] {
  return ['--conditions=@agentd/source', fileURLToPath(PROGRAMS[name]), ...args];
}

function start(command: string, args: readonly string[]): TestProcess {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  living.add(child);
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
