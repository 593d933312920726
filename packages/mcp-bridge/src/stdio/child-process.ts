import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { codeOf, messageOf, type Clock, type ProcessGuard } from '@agentd/contract';
import { mcpError } from '../errors.ts';
import type { StdioTarget } from '../settings.ts';
import { guardGroup, releaseGroup, signalGroup } from './process-group.ts';
import { safeEnvironment } from './safe-environment.ts';

export type ServerChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** A server that takes the end of its input for a good-bye needs no more than this. */
const GRACE_AFTER_EOF_MS = 300;
const GRACE_AFTER_TERM_MS = 1000;
/** How often we look whether helpers of a server are gone. */
const LOOK_MS = 20;

/** Starts the server as the leader of a process group of its own. Contract: rejects with `MCP_UNREACHABLE`. */
export async function startChild(
  { command, args, env, cwd }: StdioTarget,
  guard?: ProcessGuard,
): Promise<ServerChild> {
  await requireFolder(cwd);
  const child = spawn(command, args, {
    cwd,
    env: safeEnvironment(process.env, env),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw mcpError('MCP_UNREACHABLE', whyNotStarted(command, error), { cause: error });
  }
  // From now on `close` tells everything; a pipe that breaks meanwhile must not end us.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  if (child.pid !== undefined) await guardGroup(child.pid, guard);
  return child;
}

async function requireFolder(cwd: string): Promise<void> {
  const info = await stat(cwd).catch(() => null);
  if (info?.isDirectory() !== true) {
    throw mcpError('MCP_UNREACHABLE', `its working directory ${cwd} is not a folder; mend "cwd"`);
  }
}

function whyNotStarted(command: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return `command not found: ${command}`;
    case 'EACCES':
      return `command ${command} may not be executed: permission denied`;
    default:
      return `command ${command} could not be started: ${messageOf(error)}`;
  }
}

/** Ends the server and everything that it started: first kindly, then by force. Never rejects. */
export async function endChild(child: ServerChild, clock: Clock): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  child.stdin.end();
  const wait = (ms: number): Promise<boolean> => groupGone(pid, ms, clock);
  const isGone =
    (await wait(GRACE_AFTER_EOF_MS)) || (signalGroup(pid, 'SIGTERM'), await wait(GRACE_AFTER_TERM_MS));
  if (!isGone) {
    signalGroup(pid, 'SIGKILL');
    await wait(GRACE_AFTER_TERM_MS);
  }
  releaseGroup(pid);
  child.stdout.destroy();
  child.stderr.destroy();
}

async function groupGone(pid: number, ms: number, clock: Clock): Promise<boolean> {
  for (let left = ms; left > 0; left -= LOOK_MS) {
    if (!signalGroup(pid, 0)) return true;
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
  return !signalGroup(pid, 0);
}

/** How a process ended, in a few words. */
export function endText(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `killed by ${signal}`;
  return code === null ? 'ended' : `exited with code ${code}`;
}
