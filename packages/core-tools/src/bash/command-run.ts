import { setImmediate } from 'node:timers/promises';
import type { Clock, ExecuteContext } from '@agentd/contract';
import {
  startCommand,
  type CommandProcess,
  type CommandRequest,
  type ProcessExit,
} from './command-process.ts';
import { OutputPump } from './output-pump.ts';
import { ProcessSession } from './process-session.ts';
import { feedStdin } from './stdin-feed.ts';
import { sleep, within } from './within.ts';

export interface TimedCommand extends CommandRequest {
  readonly timeoutMs: number;
}

export interface RunPorts {
  readonly context: Pick<ExecuteContext, 'report' | 'stdin'>;
  readonly clock: Clock;
}

/** Why a command ended. */
export type EndCause = 'exit' | 'timeout' | 'cancel';

export interface CommandEnd extends ProcessExit {
  readonly cause: EndCause;
  readonly durationMs: number;
}

/** From SIGTERM to SIGKILL (BASH-6). */
const TERM_GRACE_MS = 2000;

/** What a command leaves behind gets this long to finish by itself: `exec > >(tee log)` prints after its shell ended. */
const LEFTOVER_SILENCE_MS = 100;
const LEFTOVER_MAX_MS = 500;
const LEFTOVER_GRACE_MS = 250;

/** Pipes that others hold are left after this silence, or at this time after the exit (BASH-7: 250 ms and 2 s). */
const PIPE_SILENCE_MS = 200;
const AFTER_EXIT = { pipeMaxMs: 1800, catchUpMaxMs: Number.POSITIVE_INFINITY };

/** The same when the command was stopped from outside; SCH-9 allows 3 s, of which the grace takes 2. */
const AFTER_STOP = { pipeMaxMs: 300, catchUpMaxMs: 400 };

/** No pipe of ours holds more, so whatever the command itself wrote is among so many next bytes. */
const PIPE_CAPACITY_BYTES = 256 * 1024;
const CATCH_UP_MS = 30;

/** Runs a command to its end; throws a tool error where it cannot start, and what `report` throws. */
export async function runCommand(
  command: TimedCommand,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<CommandEnd> {
  const child = await startCommand(command);
  return new CommandRun(child, command, ports).complete(signal);
}

/**
 * One running command.
 *   R1. When `complete` settles, no process of the command's session is alive (BASH-6, BASH-7), as far as the system
 *       lets us kill it.
 *   R2. Its output is reported first, whatever the cause of the end.
 *   R3. The first cause counts: a timeout stays a timeout although the command then exits with 0.
 *   R4. No timer, listener or descriptor stays behind.
 */
class CommandRun {
  readonly #child: CommandProcess;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #session: ProcessSession;
  readonly #pump: OutputPump;
  readonly #stopFeed: () => void;
  readonly #startedAt: number;
  #exitedAt: number | undefined;

  constructor(child: CommandProcess, { timeoutMs }: TimedCommand, { context, clock }: RunPorts) {
    this.#child = child;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#session = new ProcessSession(child, clock);
    const { stdin, stdout, stderr } = child;
    this.#pump = new OutputPump({ stdout, stderr }, { report: context.report, clock });
    this.#stopFeed =
      stdin === null || context.stdin === null ? () => stdin?.destroy() : feedStdin(context.stdin, stdin);
    void child.exited.then(() => (this.#exitedAt = clock.now()));
  }

  async complete(signal: AbortSignal): Promise<CommandEnd> {
    try {
      const cause = await this.#firstCause(signal);
      const exit = cause === 'exit' ? await this.#afterExit() : await this.#stop();
      const durationMs = this.#endedAt() - this.#startedAt;
      await this.#drain(cause === 'exit' ? AFTER_EXIT : AFTER_STOP);
      await this.#pump.finish();
      // A refused report has thrown by now.
      return { ...exit, cause: cause === 'refused' ? 'exit' : cause, durationMs };
    } finally {
      this.#stopFeed();
      this.#child.unguard();
    }
  }

  #firstCause(signal: AbortSignal): Promise<EndCause | 'refused'> {
    return new Promise((resolve) => {
      const settle = (cause: EndCause | 'refused'): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        resolve(cause);
      };
      const onAbort = (): void => settle('cancel');
      const cancelTimer = this.#clock.after(this.#timeoutMs, () => settle('timeout'));
      signal.addEventListener('abort', onAbort, { once: true });
      void this.#child.exited.then(() => settle('exit'));
      void this.#pump.refused.then(() => settle('refused'));
      if (signal.aborted) onAbort();
    });
  }

  async #stop(): Promise<ProcessExit> {
    if (await this.#session.end(TERM_GRACE_MS)) return this.#child.exited;
    // A process that the kernel does not let die, e.g. on a dead network disk, must not hold the call.
    this.#child.abandon();
    this.#exitedAt = this.#clock.now();
    return { code: null, signal: 'SIGKILL' };
  }

  async #afterExit(): Promise<ProcessExit> {
    const latest = this.#endedAt() + LEFTOVER_MAX_MS;
    while (await this.#session.hasOthers()) {
      if ((await this.#silentMs()) >= LEFTOVER_SILENCE_MS || this.#clock.now() >= latest) {
        await this.#session.end(LEFTOVER_GRACE_MS);
        break;
      }
      await sleep(LEFTOVER_SILENCE_MS / 5, this.#clock);
    }
    return this.#child.exited;
  }

  /** Waits for the end of the streams. Who holds them now is out of reach: in a session of its own. */
  async #drain({ pipeMaxMs, catchUpMaxMs }: typeof AFTER_EXIT): Promise<void> {
    const latest = this.#endedAt() + pipeMaxMs;
    for (;;) {
      const left = Math.min(PIPE_SILENCE_MS - (await this.#silentMs()), latest - this.#clock.now());
      if (left <= 0) break;
      if (await within(this.#pump.closed, left, this.#clock)) return;
    }
    // A slow disk may have kept us from reading what the command wrote. It lies before what the holder wrote since.
    this.#pump.readAtMost(PIPE_CAPACITY_BYTES);
    const giveUpAt = this.#clock.now() + catchUpMaxMs;
    while (!this.#pump.isCaughtUp(CATCH_UP_MS) && this.#clock.now() < giveUpAt) {
      if (await within(this.#pump.closed, CATCH_UP_MS, this.#clock)) return;
      await pipesLookedAt();
    }
  }

  async #silentMs(): Promise<number> {
    await pipesLookedAt();
    return this.#pump.silentMs(this.#endedAt());
  }

  #endedAt(): number {
    return this.#exitedAt ?? this.#clock.now();
  }
}

/**
 * After a stall of the event loop, time alone would call a pipe silent that is full. The second immediate comes after
 * a whole turn of the loop, in which every pipe was looked into; the first may still belong to the present turn.
 */
async function pipesLookedAt(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
