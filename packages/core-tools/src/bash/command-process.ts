import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { codeOf, messageOf, toolError } from '@agentd/contract';
import { commandGuard } from './command-guard.ts';
import { closePipes, takePipes, type Pipe } from './pipe-stock.ts';
import { folderIdentity } from './working-directory.ts';

export interface CommandRequest {
  /** Absolute path of bash. */
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether the command gets a pipe for its input; otherwise it reads EOF at once. */
  readonly interactive: boolean;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A started command: the leader of a session and process group of its own. */
export interface CommandProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Lets the daemon end although the process does not. */
  readonly abandon: () => void;
  /** Call it once the session is over: until then it is ended with this process, however that ends. */
  readonly unguard: () => void;
}

/**
 * Starts a command; throws a tool error where it cannot start.
 *
 * `node:child_process` and not execa: execa reads the pipes itself, has no notion of a process group, and hands no
 * control over when to read on. All three are the point here.
 */
export async function startCommand(request: CommandRequest): Promise<CommandProcess> {
  commandGuard.start(request.shell);
  const pipes = await takePipes(request.interactive ? 3 : 2, request.shell);
  try {
    const child = launch(request, pipes === null ? socketStdio(request) : pipeStdio(pipes));
    const { pid } = child;
    if (pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
    const unguard = commandGuard.watch(pid);
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    const streams = pipes === null ? ends(child) : join(pipes);
    return { pid, exited, abandon: () => child.unref(), unguard, ...streams };
  } catch (thrown) {
    if (pipes !== null) closePipes(pipes);
    throw await startError(thrown, request);
  }
}

/** `--`: a command that begins with a dash is no option of bash. */
function launch({ shell, command, cwd, environment }: CommandRequest, stdio: StdioOptions): ChildProcess {
  return spawn(shell, ['-c', '--', command], { argv0: 'bash', cwd, env: environment, detached: true, stdio });
}

function socketStdio({ interactive }: CommandRequest): StdioOptions {
  return [interactive ? 'pipe' : 'ignore', 'pipe', 'pipe'];
}

function pipeStdio([stdout, stderr, stdin]: readonly Pipe[]): StdioOptions {
  return [stdin?.readEnd ?? 'ignore', stdout?.writeEnd, stderr?.writeEnd];
}

type Streams = Pick<CommandProcess, 'stdin' | 'stdout' | 'stderr'>;

/** Keeps our ends and closes those of the child, without which no stream would ever end. */
function join([stdout, stderr, stdin]: readonly Pipe[]): Streams {
  if (stdout === undefined || stderr === undefined) throw new Error('a command takes two pipes');
  closeSync(stdout.writeEnd);
  closeSync(stderr.writeEnd);
  if (stdin !== undefined) closeSync(stdin.readEnd);
  return {
    stdout: new Socket({ fd: stdout.readEnd, readable: true, writable: false }),
    stderr: new Socket({ fd: stderr.readEnd, readable: true, writable: false }),
    stdin: stdin === undefined ? null : new Socket({ fd: stdin.writeEnd, readable: false, writable: true }),
  };
}

function ends({ stdin, stdout, stderr }: ChildProcess): Streams {
  if (stdout === null || stderr === null) throw new Error('a command takes two pipes');
  return { stdin, stdout, stderr };
}

async function startError(thrown: unknown, { shell, cwd }: CommandRequest): Promise<Error> {
  // Node blames the program when it is the folder that went away (field C8).
  await folderIdentity(cwd);
  if (codeOf(thrown) === 'E2BIG') {
    return toolError(
      'resource_limit',
      'the command and its environment are too long for the system; write the command to a file and run that',
    );
  }
  const why = `cannot start ${shell} in ${cwd}: ${messageOf(thrown)}`;
  return toolError('execution_failed', why, { cause: thrown });
}
