import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { systemClock } from '@agentd/contract';
import { scratchFolder, until, linesOf } from '../test/bridge-bench.ts';
import type { OddSettings } from '../test/odd-server.ts';
import { LineReader } from './line-reader.ts';
import { idOfOversized } from './oversized-answer.ts';
import { safeEnvironment } from './safe-environment.ts';
import { StdioTransport } from './stdio-transport.ts';

function reader(maxBytes: number) {
  const lines: string[] = [];
  const oversized: number[] = [];
  const sink = {
    line: (text: string) => lines.push(text),
    oversized: ({ bytes }: { bytes: number }) => oversized.push(bytes),
  };
  return { lines, oversized, reader: new LineReader(sink, maxBytes) };
}

describe('lines of a stream', () => {
  it('are the same however the bytes are cut [field H4]', () => {
    const text = fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll(/[\n\r]/g, ' '));
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 8 }),
        fc.array(fc.nat(40), { maxLength: 30 }),
        (wanted, cuts) => {
          const { lines, reader: subject } = reader(1_000_000);
          const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(''));
          let at = 0;
          for (const cut of cuts) {
            subject.push(bytes.subarray(at, at + cut));
            at += cut;
          }
          subject.push(bytes.subarray(at));
          subject.end();
          expect(lines).toEqual(wanted.map((line) => line.toWellFormed()));
        },
      ),
    );
  });

  it('are whole behind one that is too long, which is told once [MCP-4]', () => {
    const { lines, oversized, reader: subject } = reader(10);
    for (const chunk of ['short\n', 'x'.repeat(7), 'y'.repeat(9000), 'z\nafter\n', 'last'])
      subject.push(Buffer.from(chunk));
    subject.end();
    expect([lines, oversized]).toEqual([['short', 'after', 'last'], [9008]]);
  });

  it('too long to be read tell whose answer they are [MCP-4]', () => {
    const id = (head: string, tail: string) => idOfOversized({ head, tail });
    expect(id('{"jsonrpc":"2.0","id":7,"result":{"id":9', '"}}')).toBe(7);
    expect(id('{"id":"a\\"b","jsonrpc":"2.0","result":{', '}}')).toBe('a"b');
    expect(id('{"result":{"content":[{"id":3', '"}]},"jsonrpc":"2.0","id":8}')).toBe(8);
    expect(id('{"result":{"content":[{"id":3', '"}]},"id":8,"jsonrpc":"2.0"}')).toBe(8);
    expect(id('{"result":{"content":[{"id":3', '"id":3}]}}')).toBeNull();
  });
});

describe('the environment of a server', () => {
  it('is the safe base and what is configured [MCP-7] [field H19]', () => {
    const own = {
      PATH: '/bin',
      HOME: '/h',
      LC_ALL: 'C',
      OPENAI_API_KEY: 'k',
      TERM: 'xterm',
      AGENTD_HOME: '/a',
    };
    expect(safeEnvironment(own, { TOKEN: 't', PATH: '/other' })).toEqual({
      PATH: '/other',
      HOME: '/h',
      LC_ALL: 'C',
      TERM: 'xterm',
      TOKEN: 't',
    });
  });
});

interface Answer {
  readonly id?: number;
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A transport without a client: what is sent and what comes back are plain messages. */
async function raw(settings: OddSettings, maxMessageBytes: number) {
  const log: string[] = [];
  const answers: Answer[] = [];
  const args = [join(import.meta.dirname, '../test/odd-server.ts'), JSON.stringify(settings)];
  const target = { kind: 'stdio', command: process.execPath, args, env: {}, cwd: tmpdir() } as const;
  const transport = new StdioTransport(target, {
    clock: systemClock,
    log: (line) => log.push(line),
    maxMessageBytes,
  });
  let closed = 0;
  Object.assign(transport, {
    onmessage: (message: Answer) => answers.push(message),
    onclose: () => (closed += 1),
  });
  await transport.start();
  const call = async (id: number, name: string, args: object): Promise<Answer> => {
    await transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
    await until(() => answers.some((answer) => answer.id === id));
    return answers.find((answer) => answer.id === id) ?? {};
  };
  return {
    transport,
    log,
    answers,
    call,
    closed: () => closed,
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

describe('the transport over a child process', () => {
  it('T2 fails one oversized answer and nothing else [MCP-4]', async () => {
    await using peer = await raw({}, 100_000);
    expect(await peer.call(1, 'big', { bytes: 200_000 })).toMatchObject({
      error: { message: expect.stringMatching(/^the answer has 200,\d{3} bytes; at most/) },
    });
    expect(await peer.call(2, 'big', { bytes: 50_000 })).toMatchObject({
      result: { content: [{ type: 'text' }] },
    });
  });

  it('T4 closes once, when the process has ended, and says how [MCP-4] [field H2]', async () => {
    await using peer = await raw({ stderr: 'last words' }, 100_000);
    await peer.transport.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'die', arguments: {} },
    });
    await until(() => peer.closed() > 0);
    expect([peer.transport.endReason, peer.closed(), peer.log]).toEqual([
      'exited with code 7',
      1,
      ['last words'],
    ]);
    await expect(peer.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
      code: 'MCP_CLOSED',
    });
    await peer.transport.close();
    expect(peer.closed()).toBe(1);
  });

  it('T3 ends a server that ignores the end of its input and every polite signal [MCP-7]', async () => {
    await using folder = await scratchFolder();
    const journal = join(folder.path, 'pid');
    const program = `process.on('SIGTERM', () => {}); require('fs').writeFileSync(${JSON.stringify(journal)}, process.pid + '\\n'); setInterval(() => {}, 1000);`;
    const target = {
      kind: 'stdio',
      command: process.execPath,
      args: ['-e', program],
      env: {},
      cwd: tmpdir(),
    } as const;
    const told: unknown[] = [];
    const transport = new StdioTransport(target, {
      clock: systemClock,
      log: () => undefined,
      guard: async (leader) => {
        told.push(leader);
        return () => told.push('over');
      },
    });
    await transport.start();
    await until(async () => (await linesOf(journal)).length > 0);
    const pid = Number((await linesOf(journal))[0]);
    expect(told).toEqual([pid]);
    await transport.close();
    expect(told).toEqual([pid, 'over']);
    expect(() => process.kill(pid, 0)).toThrow(expect.objectContaining({ code: 'ESRCH' }));
  });

  it('refuses a working directory that is none [MCP-1]', async () => {
    const target = {
      kind: 'stdio',
      command: process.execPath,
      args: [],
      env: {},
      cwd: '/no/such/folder',
    } as const;
    const transport = new StdioTransport(target, { clock: systemClock, log: () => undefined });
    await expect(transport.start()).rejects.toMatchObject({
      code: 'MCP_UNREACHABLE',
      message: 'its working directory /no/such/folder is not a folder; mend "cwd"',
    });
  });
});
