import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { created, envelope, input, logText } from './file/testing/sample-events.ts';
import { SessionLogParser, type ParsedLog } from './session-log-parser.ts';

function parse(content: string | Uint8Array, chunkBytes = Infinity): ParsedLog {
  const bytes = Buffer.from(content);
  const parser = new SessionLogParser();
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    // One buffer for all chunks, as a reader of files has it.
    const chunk = Buffer.from(bytes.subarray(start, Math.min(bytes.length, start + chunkBytes)));
    parser.push(chunk);
    chunk.fill(0x21);
  }
  return parser.end();
}

const hundred = logText(Array.from({ length: 99 }, (_, index) => input(`text ${index} ä 😀`)));
const seqs = ({ events }: ParsedLog): number[] => events.map(({ seq }) => seq);
const kinds = ({ diagnostics }: ParsedLog): string[] => diagnostics.map(({ kind }) => kind);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** The log of a hundred events with another line in place of its fiftieth. */
function withLine50(line: string | Uint8Array): Buffer {
  const lines = hundred.split('\n');
  return Buffer.concat([
    Buffer.from(`${lines.slice(0, 49).join('\n')}\n`),
    Buffer.from(line),
    Buffer.from(`\n${lines.slice(50).join('\n')}`),
  ]);
}

describe('SessionLogParser', () => {
  it('reads the same whatever the chunks are [SES-3]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), (chunkBytes) => {
        expect(parse(hundred, chunkBytes)).toEqual(parse(hundred));
      }),
      { numRuns: 30 },
    );
    expect(parse(hundred)).toMatchObject({ diagnostics: [], tail: null, lastSeq: 100 });
    expect(seqs(parse(hundred))).toEqual(upTo(100));
  });

  it.each([
    ['no JSON', '{oops', 'malformed_line'],
    ['JSON that is no object', '[1,2]', 'unknown_shape'],
    ['an object that is no event', '{"type":"note"}', 'unknown_shape'],
    [
      'an envelope without a payload',
      '{"seq":50,"session_id":"s","run_id":null,"timestamp":"t","engine_version":"v"}',
      'unknown_shape',
    ],
    [
      'an envelope with a number as text',
      JSON.stringify({ ...envelope(50, created), seq: '50' }),
      'unknown_shape',
    ],
    [
      'a number that leaves no room',
      JSON.stringify({ ...envelope(50, created), seq: 2 ** 53 }),
      'unknown_shape',
    ],
    [
      'a known type without a required field',
      JSON.stringify(envelope(50, { type: 'user_input_submitted' })),
      'unknown_shape',
    ],
    [
      'an event that nests too deep',
      `{"seq":50,"session_id":"s","run_id":null,"timestamp":"t","engine_version":"v","payload":{"type":"x","a":${'['.repeat(99_999)}${']'.repeat(99_999)}}}`,
      'unknown_shape',
    ],
    ['an empty line', '', 'malformed_line'],
    ['20 MB of anything', 'x'.repeat(20_000_000), 'malformed_line'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'malformed_line'],
  ] as const)('loads 99 of 100 events past %s and names the line [SES-3] [field J5]', (_, line, kind) => {
    const parsed = parse(withLine50(line), 65_536);
    expect(seqs(parsed)).toEqual(upTo(100).filter((seq) => seq !== 50));
    expect(kinds(parsed)).toEqual([kind, 'sequence_gap']);
    expect(parsed.diagnostics[0]).toMatchObject({ line: 50 });
    expect(parsed.diagnostics[0]!.message).toContain('line 50');
    expect(parsed.diagnostics[0]!.message).toContain('stays in the file');
    expect(parsed.diagnostics[1]!.message).toContain('event 50 is missing');
  });

  it('does not hold a line that is longer than any event', () => {
    const parser = new SessionLogParser();
    const chunk = Buffer.alloc(16 * 1024 * 1024, 0x78);
    for (let count = 0; count < 5; count++) parser.push(chunk);
    parser.push(Buffer.from(`\n${JSON.stringify(envelope(1, created))}\n`));
    const { events, diagnostics } = parser.end();
    expect(events).toHaveLength(1);
    expect(diagnostics).toMatchObject([{ kind: 'malformed_line', line: 1 }]);
    expect(diagnostics[0]!.message).toContain(`${80 * 1024 * 1024} bytes`);
  });

  it('loads what stands before and after a line of 500 NUL bytes [field J3]', () => {
    const lines = hundred.split('\n');
    const parsed = parse(
      `${lines.slice(0, 50).join('\n')}\n${'\0'.repeat(500)}\n${lines.slice(50).join('\n')}`,
    );
    expect(seqs(parsed)).toEqual(upTo(100));
    expect(parsed.diagnostics).toMatchObject([{ kind: 'malformed_line', line: 51 }]);
  });

  it('loads the event that was appended directly behind NUL bytes [field J3]', () => {
    const lines = hundred.split('\n');
    const parsed = parse(
      `${lines.slice(0, 50).join('\n')}\n${'\0'.repeat(500)}${lines.slice(50).join('\n')}`,
    );
    expect(seqs(parsed)).toEqual(upTo(100));
    expect(parsed.diagnostics).toMatchObject([{ kind: 'malformed_line', line: 51 }]);
  });

  it('keeps events of types that nobody knows here, and unknown fields [EVT-1]', () => {
    const payloads = [
      { type: 'goal_set', objective: 'o' },
      Object.assign(input('a'), { added_later: { x: 1 } }),
    ];
    const { events, diagnostics } = parse(logText(payloads));
    expect(events.map(({ payload }) => payload)).toEqual([created, ...payloads]);
    expect(diagnostics).toEqual([]);
  });

  it('accepts a tool_call_started as EVT-2 has it, without the output declaration [EVT-1]', () => {
    const payload = {
      type: 'tool_call_started',
      tool_call_id: 'c',
      provider_call_id: 'p',
      tool: 't',
      args: {},
      action: null,
      label: null,
    };
    expect(parse(logText([payload])).diagnostics).toEqual([]);
  });

  it('keeps both of two events with one number in file order, and warns [field J17]', () => {
    const text = [...upTo(10), 10, 11].map((seq, index) => line(seq, index)).join('');
    const parsed = parse(text);
    expect(seqs(parsed)).toEqual([...upTo(10), 10, 11]);
    expect(parsed.diagnostics).toMatchObject([{ kind: 'sequence_repeated', line: 11 }]);
    expect(parsed.lastSeq).toBe(11);
  });

  it('counts an event once whose line is there twice [field J17]', () => {
    const text = [1, 2, 2, 3].map((seq) => line(seq, seq)).join('');
    expect(seqs(parse(text))).toEqual([1, 2, 3]);
    expect(kinds(parse(text))).toEqual(['sequence_repeated']);
  });

  it('warns of a gap and of an order that is broken, and loads all [SES-3] [field J17]', () => {
    const parsed = parse([1, 2, 3, 4, 5, 7, 6, 8].map((seq) => line(seq, seq)).join(''));
    expect(seqs(parsed)).toEqual([1, 2, 3, 4, 5, 7, 6, 8]);
    expect(kinds(parsed)).toEqual(['sequence_gap', 'sequence_gap']);
    expect(parsed.lastSeq).toBe(8);
  });

  it('reports a torn last line at every place where it can be torn [SES-3]', () => {
    const text = logText([input('ä 😀')]);
    const bytes = Buffer.from(text);
    const start = bytes.indexOf(0x0a) + 1;
    for (let end = start + 1; end < bytes.length - 1; end++) {
      const parsed = parse(bytes.subarray(0, end));
      expect(parsed.tail).toEqual({ offset: start, whole: false });
      expect(parsed.diagnostics).toMatchObject([{ kind: 'torn_tail', line: 2 }]);
      expect(seqs(parsed)).toEqual([1]);
    }
  });

  it('takes a last event that lacks only its line end', () => {
    const parsed = parse(logText([input('a')]).slice(0, -1));
    expect(seqs(parsed)).toEqual([1, 2]);
    expect(parsed).toMatchObject({ diagnostics: [], tail: { whole: true } });
  });

  it('never throws and keeps every sound line, whatever stands between [SES-3]', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => bytes.filter((byte) => byte !== 0x0a)),
      fc.json().map((text) => Buffer.from(text.replaceAll('\n', ' '))),
    );
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 8 }), fc.integer({ min: 1, max: 64 }), (lines, chunkBytes) => {
        const parts = lines.flatMap((bytes, index) => [
          Buffer.from(line(index + 1, index)),
          bytes,
          Buffer.from('\n'),
        ]);
        const parsed = parse(Buffer.concat(parts), chunkBytes);
        expect(seqs(parsed)).toEqual(upTo(lines.length));
        expect(parsed.diagnostics).toHaveLength(lines.length);
      }),
      { numRuns: 60 },
    );
  });
});

function line(seq: number, content: number): string {
  return `${JSON.stringify(envelope(seq, input(`content ${content}`)))}\n`;
}
