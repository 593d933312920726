import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
/** Keeps stripped and compiled sources between the many short processes of a test. */
const COMPILE_CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/node');

export interface Surroundings {
  readonly home: string;
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OutputLine {
  readonly type: string;
  readonly event: { readonly seq: number; readonly payload: { readonly type: string } };
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Kills with SIGKILL after so many milliseconds, or lets it end before; resolves when it is gone. */
  readonly killAfter: (ms: number) => Promise<Ended>;
  /** The whole lines of JSON that were printed so far. */
  readonly stdoutLines: () => readonly OutputLine[];
}

/** Starts the real command line from source. */
export function startAgentd(args: readonly string[], { home, cwd, env = {} }: Surroundings): Running {
  const child = spawn(process.execPath, ['--conditions=@agentd/source', MAIN, ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      AGENTD_HOME: home,
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...env,
    },
  });
  child.stdin.end();
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  const killAfter = async (ms: number): Promise<Ended> => {
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    return ended.finally(() => clearTimeout(timer));
  };
  const stdoutLines = (): readonly OutputLine[] =>
    stdout
      .slice(0, stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as OutputLine);
  return { child, ended, killAfter, stdoutLines };
}

/** Runs it to its end. */
export async function runAgentd(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  return startAgentd(args, surroundings).ended;
}
