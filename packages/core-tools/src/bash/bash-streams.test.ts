import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { systemClock, type Clock, type ToolProgress } from '@agentd/contract';
import { deferred } from '@agentd/contract/testing';
import { bashWith, eventually, runBash, withFolder } from './testing/bash-harness.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the output of a command', () => {
  it('comes as two streams, while the command still runs [BASH-4]', async () => {
    const seen = deferred();
    const abort = new AbortController();
    const call = runBash('echo out; echo err >&2; sleep 60', {
      signal: abort.signal,
      report: async ({ chunks = [] }) => {
        if (chunks.some(({ stream }) => stream === 'stderr')) seen.resolve();
      },
    });
    await seen.promise;
    abort.abort();
    const { stdout, stderr } = await call;
    expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
  });

  it('is reported within 50 ms of being printed, even in small pieces [BASH-4]', async () => {
    const lines = 5;
    const waits: number[] = [];
    const after: Clock['after'] = (ms, run) => {
      waits.push(ms);
      return systemClock.after(ms, run);
    };
    const spans: (readonly number[])[] = [];
    const arrived = Array.from({ length: lines }, () => deferred());
    // The next line is printed once the last was reported, so that no later output can help it along.
    async function* input(): AsyncGenerator<Uint8Array> {
      for (const { promise } of arrived) {
        yield encode('x\n');
        await promise;
      }
    }
    await runBash('while read -r x; do echo $x; done', {
      interactive: true,
      stdin: input(),
      timeout: 100_000,
      tool: bashWith({ now: systemClock.now, after }),
      report: async () => {
        arrived[spans.length]?.resolve();
        spans.push(waits.splice(0));
      },
    });
    expect(spans).toHaveLength(lines);
    // All that the tool itself adds is what it waits for before a report.
    const added = spans.map((span) => span.filter((ms) => ms !== 100_000).reduce((sum, ms) => sum + ms, 0));
    expect(Math.max(...added)).toBeLessThanOrEqual(50);
  });

  it('can be opened by name: /dev/stdout, /dev/stderr and tee [BASH-4]', async () => {
    const command = 'echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr';
    const { stdout, stderr, metadata } = await runBash(command);
    expect([stdout, stderr]).toEqual(['a\nc\n', 'b\nc\n']);
    expect(metadata).toMatchObject({ exit_code: 0 });
  });

  it('keeps characters whole that the program cuts, in both streams at once [BASH-8] [OUT-14]', async () => {
    // Each character comes byte by byte; the next one once this one was reported.
    const script = `
      const bytes = [...Buffer.from('a\u20AC\u{1F600}\u65E5'.repeat(3))];
      const isStart = (byte) => byte < 0x80 || byte >= 0xc0;
      const write = async () => {
        do {
          for (const fd of [1, 2]) fs.writeSync(fd, Buffer.of(bytes[0]));
          bytes.shift();
          await new Promise((resolve) => setTimeout(resolve, 3));
        } while (bytes.length > 0 && !isStart(bytes[0]));
        if (bytes.length === 0) process.exit();
      };
      const writeAll = async () => {
        await write();
        for await (const marks of process.stdin) for (const mark of marks) await write();
      };
      writeAll();`;
    const text = 'a\u20AC\u{1F600}\u65E5'.repeat(3);
    const seen = { stdout: '', stderr: '' };
    const more = new PassThrough();
    const { stdout, stderr, reports } = await runBash(`exec "$NODE" -e "$SCRIPT"`, {
      interactive: true,
      stdin: more,
      tool: bashWith(systemClock, { NODE: process.execPath, SCRIPT: script }),
      report: async ({ chunks = [] }) => {
        const before = Math.min([...seen.stdout].length, [...seen.stderr].length);
        for (const { stream, text: part } of chunks) seen[stream as 'stdout'] += part;
        if (Math.min([...seen.stdout].length, [...seen.stderr].length) > before) more.write('.');
      },
    });
    expect([stdout, stderr]).toEqual([text, text]);
    expect(reports.length).toBeGreaterThanOrEqual([...text].length);
  });

  it('keeps NUL, BOM and escape sequences, and shows invalid bytes as U+FFFD [BASH-8] [field C18]', async () => {
    const { stdout, reports } = await runBash(
      String.raw`printf '\xef\xbb\xbfa\0b\xff\xfec\033[2J\r\n\xe2\x82'`,
    );
    expect(stdout).toBe('\uFEFFa\0b\uFFFD\uFFFDc\u001B[2J\r\n\uFFFD');
    expect(stdout.isWellFormed()).toBe(true);
    expect(JSON.parse(JSON.stringify(reports))).toEqual(reports);
  });

  it('stays within 8 chunks and 64 KiB a delta, keeps its order and loses nothing [OUT-8] [BASH-9]', async () => {
    const command = String.raw`
      (for i in $(seq 3000); do echo "o $i"; echo "e $i" >&2; done)
      yes 'wide \u65e5\u672c' | head -c 3000001; head -c 300000 /dev/zero | tr '\0' '\377' >&2`;
    const { stdout, stderr, reports } = await runBash(command);
    const numbers = Array.from({ length: 3000 }, (_, index) => index + 1);
    expect(stdout.startsWith(numbers.map((n) => `o ${n}\n`).join(''))).toBe(true);
    expect(stderr).toBe(numbers.map((n) => `e ${n}\n`).join('') + '\uFFFD'.repeat(300_000));
    expect(stdout).toHaveLength(numbers.join('').length + 3000 * 3 + 3_000_001);
    for (const { chunks = [] } of reports) {
      expect(chunks.length).toBeGreaterThanOrEqual(1);
      expect(chunks.length).toBeLessThanOrEqual(8);
      const bytes = chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      expect(bytes).toBeLessThanOrEqual(64 * 1024);
    }
  });

  it('waits for the runtime: a slow one slows the command, and nothing is lost [BASH-9] [OUT-12]', async () => {
    await withFolder(async (cwd) => {
      const gate = deferred();
      let pending = 0;
      let most = 0;
      const hash = createHash('sha256');
      const command =
        'for ((i=0;i<40;i++)); do head -c 50000 /dev/zero | tr "\\0" x; echo $i > written; done';
      const call = runBash(command, {
        cwd,
        report: async ({ chunks = [] }: ToolProgress) => {
          pending += 1;
          most = Math.max(most, pending);
          await gate.promise;
          for (const { text } of chunks) hash.update(text);
          pending -= 1;
        },
      });
      const written = async (): Promise<number> =>
        Number(await readFile(join(cwd, 'written'), 'utf8').catch(() => '-1'));
      let last = -1;
      let steady = 0;
      while (steady < 8) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const now = await written();
        steady = now === last && now > 0 ? steady + 1 : 0;
        last = now;
      }
      // 256 KiB here, a read and a pipe more: well below the 2 MB of the command.
      expect(last).toBeLessThan(15);
      gate.resolve();
      const { stdout } = await call;
      expect(most).toBe(1);
      expect(stdout).toHaveLength(2_000_000);
      expect(hash.digest('hex')).toBe(createHash('sha256').update('x'.repeat(2_000_000)).digest('hex'));
    });
  });

  it('is all there although the command is gone before the runtime took the first of it [BASH-9]', async () => {
    const { stdout } = await runBash('head -c 60000 /dev/zero | tr "\\0" y', {
      report: () => new Promise((resolve) => setTimeout(resolve, 700)),
    });
    expect(stdout).toHaveLength(60_000);
  });

  it('costs bounded memory: 1 GiB goes through 64 MiB [BASH-9]', async () => {
    // A process of its own: Jest's heap would blur what the tool costs. Garbage that is collected late only adds to it,
    // so there is little room for it, and the least of three looks counts.
    const peaks: number[] = [];
    while (peaks.length < 3 && !(Math.min(...peaks) < 64)) {
      const { bytes, extraMiB } = await probe({
        command: `yes 'some line of output' | head -c ${1024 ** 3}`,
      });
      expect(bytes).toBe(1024 ** 3);
      peaks.push(extraMiB);
    }
    expect(Math.min(...peaks)).toBeLessThan(64);
  });

  it('comes and goes where the machine gives no pipes [BASH-3] [BASH-4]', async () => {
    await withFolder(async (folder) => {
      // A bash that does everything but make pipes.
      const script = '#!/bin/sh\ncase "$2" in *"<<<"*) exit 1;; esac\nPATH=${PATH#*:} exec bash "$@"\n';
      await writeFile(join(folder, 'bash'), script, { mode: 0o755 });
      const command = 'echo out; echo err >&2; cat; ls -l /proc/self/fd | grep -c "[12] -> socket"';
      const request = { command, input: 'typed\n' };
      const { text, closingLine } = await probe(request, { PATH: `${folder}:${process.env['PATH']}` });
      expect(text).toEqual({ stdout: 'out\ntyped\n1\n', stderr: 'err\n' });
      expect(closingLine).toBe('exit code: 0');
    });
  });
});

describe('the input of a command', () => {
  it('is at its end at once when nobody can send any [BASH-3] [field C10] [field C11]', async () => {
    const commands = [
      'cat',
      'read x; echo got:$x',
      `"${process.execPath}" -e 'process.stdout.write(String(fs.readFileSync(0).length))'`,
      'cat /dev/stdin',
      'seq 2 | cat < /dev/stdin',
      'cat /proc/self/fd/0',
      'git ls-remote https://localhost:1/x',
    ];
    const [cat, read, node, byName, piped, byNumber, git] = await Promise.all(
      commands.map((command) => runBash(command, { timeout: 100_000 })),
    );
    expect(cat).toMatchObject({ stdout: '', closingLine: 'exit code: 0' });
    expect(read?.stdout).toBe('got:\n');
    expect(node?.stdout).toBe('0');
    expect(byName).toMatchObject({ stdout: '', stderr: '', closingLine: 'exit code: 0' });
    expect(piped).toMatchObject({ stdout: '1\n2\n', closingLine: 'exit code: 0' });
    expect(byNumber).toMatchObject({ stdout: '', stderr: '', closingLine: 'exit code: 0' });
    expect(git?.metadata).toMatchObject({ timed_out: false });
  });

  it('is ignored for a call that is not interactive [BASH-3]', async () => {
    async function* input(): AsyncGenerator<Uint8Array> {
      yield encode('secret\n');
    }
    expect((await runBash('cat', { stdin: input() })).stdout).toBe('');
    expect((await runBash('cat', { interactive: true })).stdout).toBe('');
  });

  it('is what is sent to an interactive call, as bytes, until EOF [BASH-3]', async () => {
    const echoed = deferred();
    async function* input(): AsyncGenerator<Uint8Array> {
      yield encode('one\n');
      await echoed.promise;
      yield new Uint8Array();
      yield encode('two \u20AC');
    }
    const { stdout, closingLine } = await runBash('read a; echo "got $a"; cat /dev/stdin; echo; echo eof', {
      interactive: true,
      stdin: input(),
      report: async () => echoed.resolve(),
    });
    expect(stdout).toBe('got one\ntwo \u20AC\neof\n');
    expect(closingLine).toBe('exit code: 0');
  });

  it('is asked for only as fast as the command reads [BASH-3]', async () => {
    await withFolder(async (cwd) => {
      let asked = 0;
      async function* input(): AsyncGenerator<Uint8Array> {
        for (; asked < 64; asked += 1) yield new Uint8Array(16 * 1024);
      }
      const command = 'until [ -e go ]; do sleep 0.02; done; wc -c';
      const call = runBash(command, { cwd, interactive: true, stdin: input() });
      await eventually(() => asked >= 4);
      await new Promise((resolve) => setTimeout(resolve, 100));
      // A pipe holds 64 KiB, so that the fifth piece waits in it; other systems have other pipes.
      expect(asked).toBeLessThanOrEqual(16);
      await writeFile(join(cwd, 'go'), '');
      expect((await call).stdout.trim()).toBe(String(64 * 16 * 1024));
      expect(asked).toBe(64);
    });
  });

  it('does not hold a command that never reads, and its source is closed [BASH-3]', async () => {
    let closed = false;
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: async () => {
          closed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const silent = await runBash('echo done', { interactive: true, stdin: source });
    expect(silent.stdout).toBe('done\n');
    expect(closed).toBe(true);
    async function* flood(): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(64 * 1024);
    }
    const flooded = await runBash('exec <&-; echo done; sleep 0.1', { interactive: true, stdin: flood() });
    expect(flooded).toMatchObject({ stdout: 'done\n', closingLine: 'exit code: 0' });
  });

  it('reads EOF when its source fails [BASH-3]', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield encode('one\n');
      throw new Error('the client went away');
    }
    const { stdout, closingLine } = await runBash('cat; echo eof', { interactive: true, stdin: broken() });
    expect({ stdout, closingLine }).toEqual({ stdout: 'one\neof\n', closingLine: 'exit code: 0' });
  });

  it('does not hang in a timed read of a FIFO, twenty times [field C16]', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        withFolder((cwd) =>
          runBash('mkfifo q; timeout 1 cat q >/dev/null; echo rc=$?', { cwd, timeout: 100_000 }),
        ),
      ),
    );
    // `cat q` waits for a writer in open(); there the signal of timeout must reach it.
    expect(results.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 20 }, () => 'rc=124\n'));
  });
});

interface Probed {
  readonly bytes: number;
  readonly extraMiB: number;
  readonly text: { readonly stdout: string; readonly stderr: string };
  readonly closingLine: string;
}

/** Runs a command in another process. */
async function probe(request: { command: string; input?: string }, env = {}): Promise<Probed> {
  const script = fileURLToPath(new URL('./testing/bash-probe.ts', import.meta.url));
  const flags = [
    '--max-semi-space-size=1',
    '--disable-warning=ExperimentalWarning',
    '--conditions=@agentd/source',
  ];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, script, JSON.stringify(request)],
    {
      env: { ...process.env, ...env },
    },
  );
  return JSON.parse(stdout) as Probed;
}
