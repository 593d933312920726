import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { procStat } from './proc-stat.ts';

/**
 * Reads `+ PID START` and `- PID` lines, and at the end of its input ends what is left: SIGTERM, and SIGKILL after 2 s
 * (BASH-6). A session is ours while it has a process whose pid and start time we know, for its number cannot be given to
 * another one before its last process is gone. At first we know the leader; each round adds what has the same session.
 * Nothing but builtins, so that it does not depend on a PATH, and forks only when it acts.
 */
export const GUARD_SCRIPT = `
  trap '' HUP INT TERM QUIT
  declare -A leaders=()
  while read -r sign pid start; do
    if [[ $sign == + ]]; then leaders[$pid]=$start; else unset "leaders[$pid]"; fi
  done
  ((\${#leaders[@]} > 0)) || exit 0
  exec {nap}<> <(:)

  look() {
    local session=$1 dir stat fields ours=no
    local -A found=()
    living=()
    for dir in /proc/[0-9]*; do
      stat=
      { IFS= read -r -d '' stat < "$dir/stat"; } 2> /dev/null
      fields=(\${stat##*) })
      [[ \${fields[3]} == "$session" ]] || continue
      pid=\${dir#/proc/}
      found[$pid]=\${fields[19]}
      [[ \${known[$pid]} == "\${fields[19]}" ]] && ours=yes
      [[ \${fields[0]} == [ZX] ]] || living+=("$pid")
    done
    [[ $ours == yes ]] || { living=(); return; }
    for pid in "\${!found[@]}"; do known[$pid]=\${found[$pid]}; done
  }

  end() {
    local -A known=(["$1"]=$2)
    local living round
    for ((round = 0; round < 60; round++)); do
      look "$1"
      ((\${#living[@]} > 0)) || return
      if ((round == 0)); then kill -TERM "\${living[@]}"
      elif ((round >= 40)); then kill -KILL "\${living[@]}"; fi
      read -r -t 0.05 -u "$nap"
    done 2> /dev/null
  }

  for pid in "\${!leaders[@]}"; do end "$pid" "\${leaders[$pid]}" & done
  wait`;

/**
 * Watches over the sessions of running commands for the case that this process dies without ending them, as by SIGKILL.
 * One small process beside this one, started with the first command; it leaves with this process. On Linux only.
 */
class CommandGuard {
  readonly #watched = new Map<number, string>();
  #input: Writable | null = null;

  start(shell: string): void {
    if (process.platform !== 'linux' || this.#input !== null) return;
    const guard = spawn(shell, ['-c', GUARD_SCRIPT], {
      argv0: 'command-guard',
      cwd: '/',
      env: {},
      // A session of its own: what is sent to the group of this process must not reach it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const { stdin } = guard;
    this.#input = stdin;
    const lost = (): void => {
      if (this.#input === stdin) this.#input = null;
    };
    // Where it cannot start, or is killed, commands run unguarded until the next one starts another.
    guard.once('error', lost).once('exit', lost);
    stdin.on('error', lost);
    letGo(guard, stdin);
    for (const [pid, startTime] of this.#watched) this.#tell(`+ ${pid} ${startTime}`);
  }

  /** Contract: `pid` is a child that has not been waited for, so that its number is still its own. */
  watch(pid: number): () => void {
    const startTime = procStat(pid)?.startTime;
    if (startTime === undefined) return () => undefined;
    this.#watched.set(pid, startTime);
    this.#tell(`+ ${pid} ${startTime}`);
    return () => {
      if (this.#watched.delete(pid)) this.#tell(`- ${pid}`);
    };
  }

  /** A line this short is in the pipe when this returns. */
  #tell(line: string): void {
    this.#input?.write(`${line}\n`);
  }
}

/** Neither the guard nor the pipe to it keeps this process alive. */
function letGo(guard: ChildProcess, stdin: Writable): void {
  guard.unref();
  (stdin as Writable & { readonly unref?: () => void }).unref?.();
}

/** One for the whole process, as its death is one. */
export const commandGuard: Pick<CommandGuard, 'start' | 'watch'> = new CommandGuard();
