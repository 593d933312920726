import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { GUARD_SCRIPT } from './command-guard.ts';
import { procStat, readProc } from './proc-stat.ts';
import { eventually, processesWith, uniqueMarker } from './testing/bash-harness.ts';

const describeLinux = process.platform === 'linux' ? describe : describe.skip;
const ENGINE = fileURLToPath(new URL('./testing/doomed-engine.ts', import.meta.url));
const PARENT = fileURLToPath(new URL('./testing/doomed-parent.ts', import.meta.url));

/** Halves the start of a process that runs from source. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/node', import.meta.url));

/** A process that runs the command through the tool. */
const engineWith = (command: string, second = '') => doomed(ENGINE, [command, second]);

/**
 * A process that runs the script; resolves once that, or its command, has said `ready`. What a failed test leaves of the
 * command is ended by what is tested.
 */
async function doomed(script: string, args: readonly string[]) {
  const engine = spawn(process.execPath, ['--conditions=@agentd/source', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  const gone = once(engine, 'exit');
  let said = '';
  engine.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await eventually(() => said.includes('ready'));
  const says = (text: string): Promise<void> => eventually(() => said.includes(text));
  const kill = (signal: NodeJS.Signals): boolean => engine.kill(signal);
  return { pid: Number(engine.pid), gone, says, kill, [Symbol.dispose]: () => void engine.kill('SIGKILL') };
}

interface KnownProcess {
  readonly pid: number;
  readonly startTime: string | undefined;
}

function known(pid: number): KnownProcess {
  return { pid, startTime: procStat(pid)?.startTime };
}

/** The guard that belongs to a process. */
function guardOf(pid: number): KnownProcess {
  const guards = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && readProc(`${name}/cmdline`).startsWith('command-guard\0'),
  );
  const own = guards.find((name) => readProc(`${name}/status`).includes(`\nPPid:\t${pid}\n`));
  return known(Number(own));
}

function isAlive({ pid, startTime }: KnownProcess): boolean {
  const stat = procStat(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X';
}

/** A sleeping process in a session of its own, which the test ends. */
function sleeper() {
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
  return { ...known(Number(child.pid)), [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

describeLinux('a process that is killed while a command runs', () => {
  it.each([
    ['one that says nothing', 'echo ready; exec -a MARK sleep 300'],
    ['one that waits for its children', 'exec -a MARK sleep 300 & echo ready; wait'],
    [
      'background processes that hold no pipe',
      '(exec -a MARK sleep 300) &>/dev/null & echo ready; sleep 300',
    ],
    [
      'groups of their own',
      'set -m; (exec -a MARK sleep 300) & timeout 300 bash -c "exec -a MARK sleep 300" & echo ready; wait',
    ],
    ['one that ignores SIGTERM', 'bash -c \'trap "" TERM; echo ready; while :; do sleep 0.1; done\' MARK'],
    ['one that is stopped', "bash -c 'echo ready; kill -STOP $$' MARK"],
    [
      'one that forks while it is ended',
      'bash -c \'trap "exec -a MARK sleep 300 & wait" TERM; echo ready; while :; do sleep 0.1; done\' MARK',
    ],
  ])('leaves nothing of %s [BASH-7]', async (_what, command) => {
    const marker = uniqueMarker();
    using engine = await engineWith(command.replaceAll('MARK', marker));
    const guard = guardOf(engine.pid);
    expect([isAlive(guard), processesWith(marker).length > 0]).toEqual([true, true]);
    engine.kill('SIGKILL');
    await engine.gone;
    await eventually(() => processesWith(marker).length === 0);
    await eventually(() => !isAlive(guard));
  });

  it('leaves what went into a session of its own [BASH-7]', async () => {
    const marker = uniqueMarker();
    const named = () =>
      processesWith(marker).filter((pid) => readProc(`${pid}/cmdline`).startsWith(`${marker}\0`));
    using engine = await engineWith(
      `setsid bash -c 'echo ready; exec -a ${marker} sleep 300 &>/dev/null' & sleep 300`,
    );
    const guard = guardOf(engine.pid);
    engine.kill('SIGKILL');
    await eventually(() => !isAlive(guard) && named().length === 1);
    process.kill(Number(named()[0]), 'SIGKILL');
  });

  it('leaves nothing although its guard was killed, once another command ran [BASH-7]', async () => {
    const marker = uniqueMarker();
    using engine = await engineWith(`echo ready; exec -a ${marker} sleep 300`, 'echo second');
    const guard = guardOf(engine.pid);
    process.kill(guard.pid, 'SIGKILL');
    // Node has waited for it, so the engine knows.
    await eventually(() => procStat(guard.pid)?.startTime !== guard.startTime);
    engine.kill('SIGUSR2');
    await engine.says('second');
    expect(isAlive(guardOf(engine.pid))).toBe(true);
    engine.kill('SIGKILL');
    await eventually(() => processesWith(marker).length === 0);
  });

  it('leaves nothing of another child that it guards [MCP-7]', async () => {
    const marker = uniqueMarker();
    const program = `trap "" TERM; (exec -a ${marker} sleep 300) & while :; do sleep 0.1; done`;
    using parent = await doomed(PARENT, ['bash', '-c', program, marker]);
    const guard = guardOf(parent.pid);
    await eventually(() => processesWith(marker).length === 3);
    parent.kill('SIGKILL');
    await eventually(() => processesWith(marker).length === 0);
    await eventually(() => !isAlive(guard));
  });

  it('has no guard left once it ended by itself [BASH-7]', async () => {
    using engine = await engineWith('echo ready; sleep 0.3');
    const guard = guardOf(engine.pid);
    expect((await engine.gone)[0]).toBe(0);
    await eventually(() => !isAlive(guard));
  });
});

describeLinux('the guard', () => {
  it('ends what it was told of, and nobody who has the pid of one that is gone [BASH-7]', async () => {
    using told = sleeper();
    using done = sleeper();
    using stranger = sleeper();
    const guard = spawn('bash', ['-c', GUARD_SCRIPT], { stdio: ['pipe', 'inherit', 'inherit'] });
    guard.stdin.end(
      [
        `+ ${told.pid} ${told.startTime}`,
        `+ ${done.pid} ${done.startTime}`,
        `+ ${stranger.pid} ${Number(stranger.startTime) - 1}`,
        `- ${done.pid}`,
        '+ 999999999 1\n',
      ].join('\n'),
    );
    expect(await once(guard, 'exit')).toEqual([0, null]);
    expect([told, done, stranger].map(isAlive)).toEqual([false, true, true]);
  });

  it('leaves a session alone whose leader it cannot find any more [BASH-7]', async () => {
    const marker = uniqueMarker();
    const leader = spawn('bash', ['-c', `(exec -a ${marker} sleep 300) & echo`], { detached: true });
    const startTime = procStat(Number(leader.pid))?.startTime;
    await once(leader, 'exit');
    const guard = spawn('bash', ['-c', GUARD_SCRIPT], { stdio: ['pipe', 'inherit', 'inherit'] });
    guard.stdin.end(`+ ${leader.pid} ${startTime}\n`);
    await once(guard, 'exit');
    const [left] = processesWith(marker);
    expect(left).toBeDefined();
    process.kill(Number(left), 'SIGKILL');
  });
});
