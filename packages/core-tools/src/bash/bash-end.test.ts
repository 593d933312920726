import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { systemClock, toolError } from '@agentd/contract';
import type { Clock } from '@agentd/contract';
import { createBashTool } from './bash-tool.ts';
import {
  bashWith,
  countedWaits,
  eventually,
  heldLimit,
  processesWith,
  runBash,
  slowTimers,
  uniqueMarker,
  waitingClock,
  withFolder,
  type CallResult,
  type CallSetup,
} from './testing/bash-harness.ts';

interface TimedResult extends CallResult {
  /** What the tool waited for, by its clock: nothing that a busy machine adds. */
  readonly elapsedMs: number;
}

/** Runs a command whose time limit expires once it has printed `said` so many times. */
async function runUntil(
  said: string,
  command: string,
  { timeout, clock, times = 1 }: { timeout: number; clock?: Clock; times?: number },
): Promise<TimedResult> {
  const limit = heldLimit(timeout, clock);
  let text = '';
  return runTimed(command, {
    timeout,
    clock: limit.clock,
    report: async ({ chunks = [] }) => {
      text += chunks.map((chunk) => chunk.text).join('');
      if (text.split(said).length > times) limit.expire();
    },
  });
}

async function runTimed(
  command: string,
  { clock: base, ...setup }: CallSetup & { readonly clock?: Clock } = {},
): Promise<TimedResult> {
  const clock = waitingClock(base);
  const startedAt = clock.now();
  const result = await runBash(command, { ...setup, tool: bashWith(clock) });
  return { ...result, elapsedMs: clock.now() - startedAt };
}

describe('how a command ended', () => {
  it.each([0, 1, 3, 127, 255])('is completed for the exit code %d [BASH-5]', async (code) => {
    const { output, error, closingLine, metadata } = await runBash(`exit ${code}`);
    expect({ output, error, closingLine }).toEqual({
      output: { kind: 'streamed' },
      error: undefined,
      closingLine: `exit code: ${code}`,
    });
    expect(metadata).toEqual({
      exit_code: code,
      signal: null,
      timed_out: false,
      duration_ms: expect.any(Number),
    });
  });

  it.each([
    ['kill -9 $$', 137, 'SIGKILL'],
    ["sh -c 'kill -TERM $$'", 143, 'SIGTERM'],
    ["sh -c 'kill -SEGV $$'", 139, 'SIGSEGV'],
  ])(
    'is failed for %s, with its exit code and signal [BASH-5] [field C12]',
    async (command, code, signal) => {
      const { error, closingLine, metadata } = await runBash(command);
      expect(error).toEqual({ code: 'signal', message: expect.stringContaining(signal) });
      expect(closingLine).toBe(`signal: ${signal}`);
      expect(metadata).toMatchObject({ exit_code: code, signal, timed_out: false });
    },
  );

  it('is a timeout for a command that takes too long, with the output so far [BASH-5] [BASH-6]', async () => {
    const { error, closingLine, metadata, stdout, stderr } = await runUntil(
      'warn',
      'echo early; echo warn >&2; sleep 300',
      { timeout: 300 },
    );
    expect(error?.code).toBe('timeout');
    expect(closingLine).toBe('timed out after 300 ms');
    expect(metadata).toMatchObject({ exit_code: 143, signal: 'SIGTERM', timed_out: true });
    expect([stdout, stderr]).toEqual(['early\n', 'warn\n']);
  });

  it('is a timeout by the clock of the machine [BASH-5]', async () => {
    const { error, closingLine } = await runBash('sleep 300', { timeout: 100 });
    expect({ code: error?.code, closingLine }).toEqual({
      code: 'timeout',
      closingLine: 'timed out after 100 ms',
    });
  });

  it('stays a timeout although the command then exits with 0, and keeps its last words [BASH-5] [BASH-6]', async () => {
    const command = 'trap "echo cleaned; exit 0" TERM; echo ready; sleep 300 & wait';
    const { error, closingLine, metadata, stdout } = await runUntil('ready', command, { timeout: 300 });
    expect(error?.code).toBe('timeout');
    expect(closingLine).toBe('timed out after 300 ms');
    expect(metadata).toMatchObject({ exit_code: 0, signal: null, timed_out: true });
    expect(stdout).toBe('ready\ncleaned\n');
  });

  it('is cancelled when the signal aborts, with the output so far [BASH-5] [BASH-6]', async () => {
    const marker = uniqueMarker();
    const abort = new AbortController();
    const { error, metadata, stdout } = await runBash(`echo early; sleep 300; : ${marker}`, {
      signal: abort.signal,
      report: async () => abort.abort(),
    });
    expect(error?.code).toBe('cancelled');
    expect(metadata).toMatchObject({ signal: 'SIGTERM', timed_out: false });
    expect(stdout).toBe('early\n');
    expect(processesWith(marker)).toEqual([]);
  });

  it('starts nothing when the call is cancelled before [BASH-6]', async () => {
    const report = async (): Promise<void> => {
      throw new Error('nothing may be reported');
    };
    await expect(runBash('echo ran', { signal: AbortSignal.abort(), report })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('is what the runtime threw when it refuses output, and the command is stopped [OUT-8]', async () => {
    const marker = uniqueMarker();
    const refusal = toolError('resource_limit', 'too much');
    const call = runBash(`while echo ${marker}; do sleep 0.01; done`, {
      report: async () => {
        throw refusal;
      },
    });
    await expect(call).rejects.toBe(refusal);
    expect(processesWith(marker)).toEqual([]);
  });
});

describe('stopping a command', () => {
  it('kills what ignores SIGTERM after two seconds, wherever it hides [BASH-6] [field C4] [field C5]', async () => {
    const marker = uniqueMarker();
    const stubborn = `bash -c 'trap "" TERM; echo ready; while :; do sleep 0.2; done' ${marker}`;
    const results = await Promise.all([
      runUntil('ready', `bash -c 'trap "" TERM; echo ready; sleep 300' ${marker}`, { timeout: 500 }),
      runUntil('ready', `timeout 300 ${stubborn}; echo after`, { timeout: 500 }),
      runUntil('ready', `set -m; ${stubborn} & ${stubborn} & wait`, { timeout: 500, times: 2 }),
      runUntil(
        'ready',
        `for i in 1 2; do (while :; do :; done) & done; (trap "" TERM; echo ready; sleep 300; : ${marker}) & sleep 300`,
        { timeout: 500 },
      ),
    ]);
    expect(processesWith(marker)).toEqual([]);
    for (const { error, metadata, elapsedMs } of results) {
      expect(error?.code).toBe('timeout');
      expect(metadata).toMatchObject({ timed_out: true });
      expect(elapsedMs).toBeGreaterThanOrEqual(500 + 2000);
      expect(elapsedMs).toBeLessThan(500 + 3000);
    }
  });

  it('lets a command that obeys SIGTERM clean up before it goes [BASH-6]', async () => {
    const command = 'trap "sleep 0.5; echo bye; exit 7" TERM; echo ready; sleep 300 & wait';
    const { stdout, metadata } = await runUntil('ready', command, { timeout: 200, clock: slowTimers(10) });
    expect(stdout).toBe('ready\nbye\n');
    expect(metadata).toMatchObject({ exit_code: 7 });
  });

  it('ends by the third second although a stranger keeps printing [BASH-6] [BASH-7]', async () => {
    const marker = uniqueMarker();
    const limit = heldLimit(60_000);
    const { clock, sumMs } = countedWaits(limit.clock);
    try {
      const { error } = await runBash(
        `setsid bash -c 'while :; do echo x; sleep 0.01; done' ${marker} & sleep 300`,
        { timeout: 60_000, tool: bashWith(clock), report: async () => limit.expire() },
      );
      expect(error?.code).toBe('timeout');
      expect(sumMs()).toBeLessThan(60_000 + 3000);
    } finally {
      for (const pid of processesWith(marker)) process.kill(Number(pid), 'SIGKILL');
    }
  });
});

describe('what a command leaves behind', () => {
  it.each(['', '>/dev/null', '>/dev/null 2>&1'])(
    'is ended with it, whatever it holds: %j [BASH-7] [field C1]',
    async (redirection) => {
      const marker = uniqueMarker();
      const { stdout, closingLine, elapsedMs } = await runTimed(
        `bash -c 'sleep 300; :' ${marker} ${redirection} & echo hi`,
      );
      expect({ stdout, closingLine }).toEqual({ stdout: 'hi\n', closingLine: 'exit code: 0' });
      expect(elapsedMs).toBeLessThan(2000);
      expect(processesWith(marker)).toEqual([]);
    },
  );

  it('is ended although it ignores SIGTERM, is stopped, or has a group of its own [BASH-7]', async () => {
    const marker = uniqueMarker();
    const results = await Promise.all([
      runTimed(`bash -c 'trap "" TERM; sleep 300; :' ${marker} & echo hi`),
      runTimed(`bash -c 'kill -STOP $$; :' ${marker} & sleep 0.2; echo hi`),
      runTimed(`set -m; bash -c 'sleep 300; :' ${marker} & echo hi`),
      runTimed(`yes ${marker} >/dev/null & echo hi`),
    ]);
    expect(processesWith(marker)).toEqual([]);
    for (const { stdout, elapsedMs, error } of results) {
      expect({ stdout, error }).toEqual({ stdout: 'hi\n', error: undefined });
      expect(elapsedMs).toBeLessThan(2000);
    }
  });

  it('may still finish what it prints: a process substitution outlives its shell [BASH-7] [BASH-9]', async () => {
    const command = 'exec > >(sleep 0.05; tee /dev/null | cat) 2>&1; seq 20000; exit 3';
    const { stdout, metadata } = await runTimed(command, { clock: slowTimers(20) });
    expect(stdout.split('\n')).toHaveLength(20_001);
    expect(metadata).toMatchObject({ exit_code: 3 });
  });

  it('does not hold the call from a session of its own: 250 ms of silence end it [BASH-7]', async () => {
    const marker = uniqueMarker();
    await withFolder(async (cwd) => {
      const { stdout, elapsedMs, metadata } = await runTimed(
        `setsid bash -c 'echo from setsid; touch said; sleep 300; :' ${marker} & until [ -e said ]; do sleep 0.01; done; echo hi`,
        { cwd },
      );
      expect(stdout).toBe('from setsid\nhi\n');
      expect(metadata).toMatchObject({ exit_code: 0 });
      expect(elapsedMs).toBeLessThanOrEqual(300);
      expect(processesWith(marker)).toHaveLength(1);
    }).finally(() => {
      for (const pid of processesWith(marker)) process.kill(Number(pid), 'SIGKILL');
    });
  });

  it('loses nothing when the daemon stalls while its commands end [BASH-7] [BASH-9]', async () => {
    const stalling: Clock = {
      after: systemClock.after,
      now: () => {
        for (const until = performance.now() + 15; performance.now() < until;);
        return systemClock.now();
      },
    };
    const tool = createBashTool({ environment: process.env, withheld: [], clock: stalling });
    const calls = Array.from({ length: 12 }, (_, index) => runBash(`sleep 0.5; echo ${index}`, { tool }));
    const results = await Promise.all(calls);
    expect(results.map(({ stdout }) => stdout)).toEqual(calls.map((_, index) => `${index}\n`));
  });

  it('does not hold the call for over 2 s although it prints all the time [BASH-7]', async () => {
    const marker = uniqueMarker();
    const flood = `echo ${marker}; touch said; exec yes ${marker}`;
    const command = `setsid bash -c '${flood}' & until [ -e said ]; do sleep 0.01; done; echo hi >&2`;
    await withFolder(async (cwd) => {
      // In two seconds a fast machine prints more than a string holds.
      const { clock, sumMs } = countedWaits();
      const { stdout, stderr } = await runBash(command, { cwd, keepAtMost: 1000, tool: bashWith(clock) });
      expect(stderr).toBe('hi\n');
      expect(stdout.startsWith(`${marker}\n`)).toBe(true);
      expect(sumMs()).toBeLessThanOrEqual(2200);
      await eventually(() => processesWith(marker).length === 0);
    }).finally(() => {
      for (const pid of processesWith(marker)) process.kill(Number(pid), 'SIGKILL');
    });
  });

  it('is nothing at all after 200 calls: no process, descriptor, timer or listener [BASH-7]', async () => {
    const marker = uniqueMarker();
    const abort = new AbortController();
    const open = (): number => readdirSync('/proc/self/fd').length;
    const resources = (): readonly string[] =>
      process.getActiveResourcesInfo().filter((name) => /Timeout|Pipe|Process/.test(name));
    await runBash('true');
    const before = { descriptors: open(), resources: resources().length };
    for (let batch = 0; batch < 10; batch += 1) {
      const calls = Array.from({ length: 20 }, () =>
        runBash(`true ${marker}`, { signal: abort.signal, interactive: batch % 2 === 0 }),
      );
      for (const { closingLine } of await Promise.all(calls)) expect(closingLine).toBe('exit code: 0');
    }
    expect(processesWith(marker)).toEqual([]);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    await eventually(() => resources().length <= before.resources);
    // Spare pipes are kept for the next call: one batch at most, and another where calls asked together.
    expect(open()).toBeLessThanOrEqual(before.descriptors + 24);
  });
});
