import { readdirSync } from 'node:fs';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Clock } from '@agentd/contract';
import { procStat, readProc } from './proc-stat.ts';
import { sleep, within } from './within.ts';

/** How often a dying session is looked at. */
const POLL_MS = 20;

/** A process that forks while it is being killed needs more than one round; an unkillable one must not hold us. */
const KILL_ROUNDS = 10;

/** Within this time no machine hands out all its pids, so what the leader started has a higher pid than the leader. */
const PIDS_RISE_FOR_MS = 3000;

/** Files of /proc read in one go, before others get the event loop. */
const SCAN_BATCH = 200;

/**
 * The processes of one command: the session that its leader opened.
 *
 * The session and not only the process group, because `timeout 30 x`, `set -m` and the like move their children into
 * groups of their own, where a signal to the first group does not reach them. Where there is no /proc, the group alone.
 */
export class ProcessSession {
  readonly #leader: number;
  readonly #exited: Promise<unknown>;
  readonly #clock: Clock;
  readonly #startedAt: number;

  constructor(leader: { readonly pid: number; readonly exited: Promise<unknown> }, clock: Clock) {
    this.#leader = leader.pid;
    this.#exited = leader.exited;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** Whether anything but the leader lives in it. */
  async hasOthers(): Promise<boolean> {
    if (process.platform !== 'linux') return send(-this.#leader, 0);
    return (await this.#others()).length > 0;
  }

  /** SIGTERM to all, and SIGKILL to what is left after `graceMs`. False: something cannot be killed. */
  async end(graceMs: number): Promise<boolean> {
    await this.#signal('SIGTERM');
    if (await this.#emptied(graceMs)) return true;
    for (let round = 0; round < KILL_ROUNDS; round += 1) {
      await this.#signal('SIGKILL');
      if (await this.#emptied(2 * POLL_MS)) return true;
    }
    return false;
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    send(-this.#leader, signal);
    for (const { pid, group } of await this.#others()) if (group !== this.#leader) send(pid, signal);
  }

  async #emptied(ms: number): Promise<boolean> {
    const until = this.#clock.now() + ms;
    if (!(await within(this.#exited, ms, this.#clock))) return false;
    while (await this.hasOthers()) {
      if (this.#clock.now() >= until) return false;
      await sleep(POLL_MS, this.#clock);
    }
    return true;
  }

  async #others(): Promise<readonly Member[]> {
    const found: Member[] = [];
    const pids = this.#candidates();
    for (let start = 0; start < pids.length; start += SCAN_BATCH) {
      if (start > 0) await yieldToOthers();
      for (const pid of pids.slice(start, start + SCAN_BATCH)) {
        const member = pid === this.#leader ? undefined : memberOf(this.#leader, pid);
        if (member !== undefined) found.push(member);
      }
    }
    return found;
  }

  #candidates(): readonly number[] {
    if (process.platform !== 'linux') return [];
    const young = this.#clock.now() - this.#startedAt < PIDS_RISE_FOR_MS;
    const newest = young ? newestPid() : 0;
    if (newest === this.#leader) return [];
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return newest > this.#leader ? pids.filter((pid) => pid > this.#leader) : pids;
  }
}

interface Member {
  readonly pid: number;
  readonly group: number;
}

/** The process when it lives and is of that session. */
function memberOf(session: number, pid: number): Member | undefined {
  const stat = procStat(pid);
  if (stat === undefined || stat.session !== session || stat.state === 'Z' || stat.state === 'X')
    return undefined;
  return { pid, group: stat.group };
}

/** The pid handed out last in our namespace; 0 where the system does not tell. */
function newestPid(): number {
  return Number(readProc('loadavg').trim().split(' ').at(-1) ?? 0);
}

/** False when nobody is there, or when it belongs to another user, which is beyond us. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}
