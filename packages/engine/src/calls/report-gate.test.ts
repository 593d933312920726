import { describe, expect, it } from '@jest/globals';
import type { OutputChunk, OutputDeclaration, ToolProgress } from '@agentd/contract';
import { deferred, flush, manualClock, type Deferred } from '@agentd/contract/testing';
import type { LiveEvent } from '../ports.ts';
import { ReportGate } from './report-gate.ts';
import { recordingSink } from './testing/turn-fixture.ts';

const SINGLE: OutputDeclaration = { kind: 'single' };
const NAMED: OutputDeclaration = { kind: 'named', streams: ['out', 'err'] };

function setup(declaration: OutputDeclaration = SINGLE, accepting?: () => Promise<void>) {
  const clock = manualClock();
  const live: LiveEvent[] = [];
  const stored: OutputChunk[] = [];
  const log = recordingSink();
  const capture = {
    accept: async (chunks: readonly OutputChunk[]) => {
      await accepting?.();
      stored.push(...chunks);
    },
    finish: () => Promise.reject(new Error('not the gate’s business')),
    discard: async () => undefined,
  };
  const gate = new ReportGate(
    { callId: 'call', tool: 'tool', declaration },
    { clock, sink: log.sink, live: (event) => live.push(event), capture },
  );
  const textOf = (stream?: string): string =>
    stored
      .filter((chunk) => chunk.stream === stream)
      .map(({ text }) => text)
      .join('');
  return { clock, live, stored, log, gate, textOf, report: gate.report };
}

const chunks = (...texts: readonly string[]): ToolProgress => ({ chunks: texts.map((text) => ({ text })) });

describe('output of a delta', () => {
  it('takes 8 chunks and 64 KiB and hands them on in order [OUT-8] [OUT-12]', async () => {
    const { report, textOf, gate } = setup();
    expect(gate.streamed).toBe(false);
    await report(chunks('1', '2', '3', '4', '5', '6', '7', '8'));
    await report(chunks('é'.repeat(32 * 1024)));
    expect(textOf()).toBe(`12345678${'é'.repeat(32 * 1024)}`);
    expect(gate.streamed).toBe(true);
  });

  it.each([
    ['9 chunks', chunks(...'123456789'), 'at most 8 chunks, not 9'],
    ['over 64 KiB in UTF-8', chunks('é'.repeat(32 * 1024), 'x'), 'at most 65536 bytes of text, not 65537'],
    [
      'a message over 1 KiB',
      { ...chunks('a'), message: 'é'.repeat(513) },
      'message of a report takes at most 1024',
    ],
    [
      'a display over 1 KiB',
      { ...chunks('a'), display: 'x'.repeat(1025) },
      'display of a report takes at most 1024',
    ],
  ])('refuses %s whole, and the tool may go on [OUT-8] [OUT-9]', async (_what, progress, message) => {
    const { report, stored, live, gate } = setup();
    await expect(report(progress)).rejects.toMatchObject({
      code: 'resource_limit',
      message: expect.stringContaining(message),
    });
    expect([stored, live, gate.fault, gate.streamed]).toEqual([[], [], null, false]);
    await report(chunks('small'));
    expect(stored).toEqual([{ text: 'small' }]);
  });

  it.each<[string, OutputDeclaration, ToolProgress, string]>([
    ['an undeclared stream', NAMED, { chunks: [{ stream: 'log', text: 'a' }] }, 'stream "log"'],
    ['no stream where streams are declared', NAMED, chunks('a'), 'declares the streams out, err'],
    [
      'a stream where the output is single',
      SINGLE,
      { chunks: [{ stream: 'out', text: 'a' }] },
      'declares single',
    ],
    [
      'one bad chunk among good ones',
      NAMED,
      { chunks: [{ stream: 'out', text: 'a' }, { text: 'b' }] },
      'no stream',
    ],
    ['no text', SINGLE, { chunks: [{}] } as unknown as ToolProgress, 'no progress'],
    ['a number', SINGLE, 5 as ToolProgress, 'no progress'],
    ['null', SINGLE, null as unknown as ToolProgress, 'no progress'],
    [
      'a getter that throws',
      SINGLE,
      Object.defineProperty({}, 'chunks', {
        get: () => {
          throw new Error('hostile getter');
        },
      }),
      'hostile getter',
    ],
  ])(
    '%s is a fault of the tool, heeded or not [OUT-8]',
    async (...[_what, declaration, progress, message]) => {
      const { report, stored, gate } = setup(declaration);
      void report(progress);
      await expect(report(progress)).rejects.toMatchObject({ code: 'execution_failed' });
      expect(gate.fault).toMatchObject({
        code: 'execution_failed',
        message: expect.stringContaining(message),
      });
      expect(stored).toEqual([]);
    },
  );

  it('resolves once the capture has accepted, and not before [OUT-12]', async () => {
    const accepted = deferred();
    const { report, live } = setup(SINGLE, () => accepted.promise);
    let done = false;
    const reported = report(chunks('a')).then(() => (done = true));
    await flush();
    expect([done, live]).toEqual([false, []]);
    accepted.resolve();
    await reported;
    expect(live).toHaveLength(1);
  });

  it('keeps the order of reports that nobody awaits, and bounds how many are under way [OUT-8] [OUT-12]', async () => {
    const gates: Deferred<void>[] = [];
    const { report, textOf } = setup(SINGLE, () => {
      gates.push(deferred());
      return gates.at(-1)!.promise;
    });
    const reports = Array.from({ length: 65 }, (_, index) => report(chunks(`${index},`)));
    await expect(reports[64]).rejects.toMatchObject({ code: 'resource_limit' });
    await flush();
    expect(gates).toHaveLength(1);
    for (let index = 0; index < 64; index++) {
      gates[index]!.resolve();
      await flush();
    }
    expect(textOf()).toBe(Array.from({ length: 64 }, (_, index) => `${index},`).join(''));
    void report(chunks('again'));
    await flush();
    expect(gates).toHaveLength(65);
  });

  it('shows live output with UTF-8 offsets a stream [OUT-8] [OUT-14]', async () => {
    const { report, live } = setup(NAMED);
    await report({
      chunks: [
        { stream: 'out', text: 'né' },
        { stream: 'err', text: '!' },
        { stream: 'out', text: '' },
      ],
    });
    await report({
      chunks: [
        { stream: 'out', text: '😀' },
        { stream: 'out', text: 'x' },
      ],
    });
    expect(live).toEqual(
      [
        ['out', 0, 'né'],
        ['err', 0, '!'],
        ['out', 3, '😀'],
        ['out', 7, 'x'],
      ].map(([stream, offset, data]) => ({
        type: 'tool_output',
        tool_call_id: 'call',
        stream,
        offset,
        data,
      })),
    );
  });

  it('puts a code point together that was cut between two chunks [OUT-14]', async () => {
    const { report, live, gate, textOf } = setup(NAMED);
    await report({
      chunks: [
        { stream: 'out', text: 'a\ud83d' },
        { stream: 'err', text: '\ude00\ud83d' },
      ],
    });
    await report({ chunks: [{ stream: 'out', text: '\ude00b' }] });
    await gate.close();
    expect(textOf('out')).toBe('a😀b');
    expect(textOf('err')).toBe('\ufffd\ufffd');
    expect(live.map((event) => (event.type === 'tool_output' ? event.offset : -1))).toEqual([0, 0, 1, 3]);
  });

  it('stores what is under way before it closes, and refuses what comes later [OUT-12] [SCH-9]', async () => {
    const accepted = deferred();
    const { report, stored, gate } = setup(SINGLE, () => accepted.promise);
    void report(chunks('early'));
    const closed = gate.close();
    await expect(report(chunks('late'))).rejects.toMatchObject({
      message: expect.stringContaining('had ended'),
    });
    accepted.resolve();
    await closed;
    await gate.close();
    expect(stored).toEqual([{ text: 'early' }]);
    expect(gate.fault).toBeNull();
  });
});

describe('message and display', () => {
  it('are shown live, sanitized and well-formed [OUT-9]', async () => {
    const { report, live } = setup();
    await report({ message: 'a\x1b[31m\tb\r\nc\x07\ud83d', display: '\x9b1mx\x7f\u0085é' });
    expect(live).toEqual([
      { type: 'tool_message', tool_call_id: 'call', text: 'a [31m\tb\nc \ufffd' },
      { type: 'tool_display', tool_call_id: 'call', text: ' 1mx  é' },
    ]);
  });

  it('fall silent past 64 KiB a call while output goes on [OUT-9]', async () => {
    const { report, live, textOf } = setup();
    const kilobyte = 'x'.repeat(1024);
    for (let index = 0; index < 40; index++) {
      await report({ ...chunks('.'), message: kilobyte, display: kilobyte });
    }
    expect(live.filter(({ type }) => type !== 'tool_output')).toHaveLength(64);
    await report({ message: 'a' });
    expect(live.filter(({ type }) => type !== 'tool_output')).toHaveLength(64);
    expect(textOf()).toBe('.'.repeat(40));
  });

  it('are recorded when a message changes, at most once a second [EVT-2]', async () => {
    const { report, clock, log, gate } = setup();
    const recorded = () => log.of('tool_call_progress').map(({ message }) => message);
    await report({ message: 'one' });
    await report({ message: 'one' });
    await report({ message: 'two', display: 'shown only' });
    clock.advance(900);
    await report({ message: 'three' });
    expect(recorded()).toEqual(['one']);
    clock.advance(100);
    expect(recorded()).toEqual(['one', 'three']);
    clock.advance(5000);
    await report({ message: 'three' });
    await report({ message: 'four' });
    expect(recorded()).toEqual(['one', 'three', 'four']);
    await report({ message: 'five' });
    await report({ message: 'four' });
    clock.advance(1000);
    expect(recorded()).toEqual(['one', 'three', 'four']);
    await report({ message: 'six' });
    await report({ message: 'seven' });
    await gate.close();
    clock.advance(5000);
    expect(recorded()).toEqual(['one', 'three', 'four', 'six']);
    expect(clock.pending()).toBe(0);
  });
});
