import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** Types are stripped once and not for every process: a start from source then takes half the time. */
const COMPILE_CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/node');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** A file in place of the pipe. */
  readonly stdout?: string;
}

/** A line of `--output json`. */
export interface OutputLine {
  readonly type: string;
  readonly event?: {
    readonly seq: number;
    readonly session_id: string;
    readonly run_id: string | null;
    readonly timestamp: string;
    readonly engine_version: string;
    readonly payload: { readonly type: string } & Readonly<Record<string, unknown>>;
  };
  readonly [key: string]: unknown;
}

/** A started command. */
export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Outcome>;
  /** What it has printed so far. */
  readonly stdout: () => string;
  /** Resolves once stdout holds the text. */
  readonly printed: (text: string) => Promise<void>;
}

/** A temporary home and workspace, and the real command line from source in them. */
export class Workbench implements AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.home = join(folder, 'home');
    this.workspace = join(folder, 'ws');
  }

  static async create(): Promise<Workbench> {
    const bench = new Workbench(await realpath(await mkdtemp(join(tmpdir(), 'agentd-cli-'))));
    await mkdir(bench.workspace);
    return bench;
  }

  /** Writes a file below the workbench: `home/…`, `ws/…` or elsewhere; resolves with its path. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.#folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  /** Writes a script for the scripted model and resolves with `--model`'s arguments. */
  async script(turns: string, name = 'script.yaml'): Promise<readonly string[]> {
    const indented = turns.trimEnd().replaceAll(/^/gm, '    ');
    return ['-m', `scripted:${await this.write(name, `agents:\n  default:\n${indented}\n`)}`];
  }

  start(args: readonly string[], options: CallOptions = {}): Started {
    const { env = {}, cwd = this.workspace, input, stdout: file } = options;
    const node = commandOf(args);
    const command = file === undefined ? node : ['bash', '-c', `exec "$@" > ${file}`, 'bash', ...node];
    const child = spawn(command[0] ?? '', command.slice(1), {
      cwd,
      env: { ...surroundingsOf(this).env, ...env },
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
    const printed = async (text: string): Promise<void> => {
      while (!stdout.includes(text)) {
        const more = once(child.stdout, 'data');
        const over = ended.then(() => {
          throw new Error(`ended without printing ${text}: ${stdout}${stderr}`);
        });
        await Promise.race([more, over]);
      }
    };
    return { child, ended, printed, stdout: () => stdout };
  }

  run(args: readonly string[], options: CallOptions = {}): Promise<Outcome> {
    return this.start(args, options).ended;
  }

  /** Runs a prompt with `--output json`. */
  async runJson(
    args: readonly string[],
    options: CallOptions = {},
  ): Promise<Outcome & { lines: readonly OutputLine[] }> {
    const outcome = await this.run(['run', 'go', '--output', 'json', ...args], options);
    return { ...outcome, lines: jsonLines(outcome.stdout) };
  }

  /** Every file below the home, relative to it. */
  async homeFiles(): Promise<readonly string[]> {
    const names = await readdir(this.home, { recursive: true }).catch((): string[] => []);
    return names.toSorted((a, b) => a.localeCompare(b));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The real command line from source. */
export function commandOf(args: readonly string[]): [string, ...string[]] {
  return [process.execPath, '--conditions=@agentd/source', MAIN, ...args];
}

/** Where a process of the workbench starts, and all that it sees of the environment. */
export function surroundingsOf({ home, workspace }: Workbench) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: dirname(home),
    AGENTD_HOME: home,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
  return { cwd: workspace, env };
}

export function jsonLines(stdout: string): readonly OutputLine[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as OutputLine);
}

/** The payloads of one type among the events. */
export function payloads(
  lines: readonly OutputLine[],
  type: string,
): readonly Readonly<Record<string, unknown>>[] {
  return lines.flatMap(({ event }) => (event?.payload.type === type ? [event.payload] : []));
}

export function summaryOf(lines: readonly OutputLine[]): OutputLine {
  return lines.at(-1) ?? { type: 'nothing' };
}
