import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { codeOf } from '@agentd/contract';

/** Two open descriptors. Whoever takes them closes them. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** Pipes made at once: making one costs as much as `bash -c true`, making twelve hardly more. */
const BATCH = 12;

/**
 * A bash that opens pipes and prints the numbers of their descriptors; it closes its output, and lives until its input
 * ends. Since 5.1 a here-string is a pipe; an older bash makes one for a process substitution.
 */
const PIPE_MAKER = `
  for ((i = 0; i < ${BATCH}; i++)); do
    exec {fd}<<<''
    [[ -p /dev/fd/$fd ]] || exec {fd}<> <(:)
    echo $fd
  done
  exec >&-
  read`;

/** Open pipes that nobody uses yet. At most `BATCH` for the whole process, so it is no leak. */
const stock: number[] = [];
let refill: Promise<void> | undefined;

/**
 * Real pipes, or null where the machine gives none (then Node's own sockets must do).
 *
 * Node gives its children UNIX sockets. On Linux those cannot be opened by name: `echo x > /dev/stderr`,
 * `tee /dev/stderr` and `cat /dev/stdin` fail with ENXIO. Node cannot make a pipe, but it can open one that
 * another process holds. Not a FIFO: opening one that nobody writes to blocks, and it needs a folder with room.
 */
export async function takePipes(count: number, shell: string): Promise<readonly Pipe[] | null> {
  if (process.platform !== 'linux') return null;
  const taken: Pipe[] = [];
  try {
    while (taken.length < count) {
      const spare = stock.pop();
      if (spare === undefined) await restock(shell);
      else taken.push(split(spare));
    }
    return taken;
  } catch {
    // No /proc, no process or descriptor to spare: if the command cannot start either, that error says more.
    closePipes(taken);
    return null;
  }
}

export function closePipes(pipes: readonly Pipe[]): void {
  for (const { readEnd, writeEnd } of pipes) {
    closeSync(readEnd);
    closeSync(writeEnd);
  }
}

/** Opening through /proc gives each end a file description of its own. */
function split(both: number): Pipe {
  try {
    const readEnd = openSync(`/proc/self/fd/${both}`, constants.O_RDONLY);
    const writeEnd = openSync(`/proc/self/fd/${both}`, constants.O_WRONLY);
    return { readEnd, writeEnd };
  } finally {
    closeSync(both);
  }
}

function restock(shell: string): Promise<void> {
  refill ??= makePipes(shell).finally(() => {
    refill = undefined;
  });
  return refill;
}

async function makePipes(shell: string): Promise<void> {
  const maker = spawn(shell, ['-c', PIPE_MAKER], { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
  const failed = once(maker, 'error').then(([error]) => Promise.reject(error));
  try {
    const numbers = await Promise.race([text(maker.stdout), failed]);
    for (const number of numbers.trim().split('\n')) stock.push(openPipe(`/proc/${maker.pid}/fd/${number}`));
  } finally {
    maker.stdin.destroy();
  }
}

/** Opens both ends of a pipe and takes out what the here-string left in it. */
function openPipe(path: string): number {
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    readSync(both, new Uint8Array(16));
  } catch (thrown) {
    if (codeOf(thrown) !== 'EAGAIN') throw thrown;
  }
  return both;
}
