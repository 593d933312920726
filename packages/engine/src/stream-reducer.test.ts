import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countingIds } from '@agentd/contract/testing';
import type { AssistantToolCall, FinishReason, ModelStreamPart } from '@agentd/contract';
import { providerCallIds } from './provider-call-ids.ts';
import { StreamReducer } from './stream-reducer.ts';

const usage = {
  input_tokens: 1,
  output_tokens: 2,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

const finish = (reason: FinishReason = 'stop'): ModelStreamPart => ({ type: 'finish', reason, usage });
const text = (id: string, part: string, providerData?: { [key: string]: string }): ModelStreamPart => ({
  type: 'text-delta',
  id,
  text: part,
  ...(providerData && { providerData }),
});
const reasoning = (id: string, part: string, providerData?: { [key: string]: string }): ModelStreamPart => ({
  type: 'reasoning-delta',
  id,
  text: part,
  ...(providerData && { providerData }),
});
const call = (providerCallId: string, input = '{}', tool = 'read'): ModelStreamPart => ({
  type: 'tool-call',
  providerCallId,
  tool,
  input,
});

function reduce(...parts: readonly ModelStreamPart[]) {
  const reducer = new StreamReducer();
  for (const part of parts) reducer.add(part);
  return reducer.turn(providerCallIds(countingIds(), () => false));
}

describe('StreamReducer', () => {
  it.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [-5, 0],
    [1.5, 2],
    [1e308, Number.MAX_SAFE_INTEGER],
  ])('R6 counts %d tokens as %d [SES-10]', (said, counted) => {
    const odd = { ...usage, input_tokens: said };
    expect(reduce(text('a', 'x'), { type: 'finish', reason: 'stop', usage: odd }).usage).toEqual({
      ...usage,
      input_tokens: counted,
    });
  });

  it('R5 breaks off an answer that does not end, of text, of calls or of empty parts [SES-5]', () => {
    const endless: readonly ((index: number) => ModelStreamPart)[] = [
      () => text('a', 'x'.repeat(100_000)),
      (index) => call(`c${index}`, 'x'.repeat(100_000)),
      (index) => reasoning(`r${index}`, ''),
    ];
    for (const part of endless) {
      const reducer = new StreamReducer();
      const read = (): void => {
        for (let index = 0; index < 1_000_000; index += 1) reducer.add(part(index));
      };
      expect(read).toThrow(expect.objectContaining({ code: 'MODEL_REFUSED' }));
    }
  });

  it('R1 keeps the order of first deltas however the deltas interleave', () => {
    const { content } = reduce(
      reasoning('a', 'think'),
      text('b', 'Hel'),
      call('c1'),
      reasoning('a', 'ing'),
      text('d', 'after'),
      text('b', 'lo'),
      finish('tool_calls'),
    );
    expect(content).toEqual([
      { type: 'reasoning', text: 'thinking' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_call', provider_call_id: 'c1', tool: 'read', input: {} },
      { type: 'text', text: 'after' },
    ]);
  });

  it('R1 tells text and reasoning apart that share an id', () => {
    const { content } = reduce(text('0', 'said'), reasoning('0', 'thought'), finish());
    expect(content).toEqual([
      { type: 'text', text: 'said' },
      { type: 'reasoning', text: 'thought' },
    ]);
  });

  it('R2 merges provider data key by key, and the last one counts', () => {
    const { content } = reduce(
      reasoning('a', 'x', { id: '1', signature: 'early' }),
      reasoning('a', 'y'),
      reasoning('a', '', { signature: 'late' }),
      finish(),
    );
    expect(content).toEqual([
      { type: 'reasoning', text: 'xy', provider_data: { id: '1', signature: 'late' } },
    ]);
  });

  it('R3 joins a surrogate pair that was cut between two deltas, and mends half a pair', () => {
    const { content } = reduce(text('a', 'hi \ud83d'), text('a', '\ude00 \ud83d'), finish());
    expect(content).toEqual([{ type: 'text', text: 'hi 😀 \ufffd' }]);
  });

  it('R3 leaves out text of white space and empty reasoning, but keeps reasoning that carries data', () => {
    const { content } = reduce(
      text('a', ' \n'),
      reasoning('b', ''),
      reasoning('c', '', { redacted: 'opaque' }),
      finish(),
    );
    expect(content).toEqual([{ type: 'reasoning', text: '', provider_data: { redacted: 'opaque' } }]);
  });

  it('gives a turn without any content as such', () => {
    expect(reduce(finish('content_filter'))).toEqual({
      content: [],
      finishReason: 'content_filter',
      usage,
    });
  });

  it('R4 takes a stream without finish for cut, whatever came [SES-9]', () => {
    for (const parts of [[], [text('a', 'half')], [call('c1')]]) {
      expect(() => reduce(...parts)).toThrow(expect.objectContaining({ code: 'MODEL_UNAVAILABLE' }));
    }
  });
});

describe('the arguments of a call', () => {
  const argumentsOf = (input: string, reason: FinishReason = 'tool_calls') => {
    const [part] = reduce(call('c1', input), finish(reason)).content;
    const { input: parsed, raw_input: raw } = part as AssistantToolCall;
    return { parsed, raw };
  };

  it.each([
    '{"path":"a","content":"abc',
    '{"path":"a",}',
    '{"path":"a"}{"path":"b"}',
    '["a"]',
    '"a"',
    'null',
    '5',
    `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  ])('that are not one JSON object are kept raw beside an empty input: %# [field I13]', (input) => {
    expect(argumentsOf(input)).toEqual({ parsed: {}, raw: input });
  });

  it('are an empty object where the provider sent no text at all', () => {
    expect(argumentsOf('')).toEqual({ parsed: {}, raw: undefined });
  });

  it('keep every JSON object as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (object) => {
        const written = JSON.stringify(object);
        const { parsed, raw } = argumentsOf(written);
        expect(raw).toBeUndefined();
        expect(JSON.stringify(parsed)).toBe(written);
      }),
    );
  });

  it('lose half surrogate pairs that were written as escapes', () => {
    expect(argumentsOf(String.raw`{"a":"x\ud83d","b":"\ud83d\ude00"}`).parsed).toEqual({
      a: 'x\ufffd',
      b: '😀',
    });
  });
});

describe('the name of a called tool', () => {
  it.each([
    ['functions.read', 'functions_read'],
    ['', 'unnamed_tool'],
    ['läsa fil', 'l_sa_fil'],
    ['x'.repeat(100), 'x'.repeat(64)],
  ])('%j becomes one that no provider refuses', (name, committed) => {
    expect(reduce(call('c1', '{}', name), finish()).content).toMatchObject([{ tool: committed }]);
  });
});

describe('providerCallIds', () => {
  it.each([[''], ['has space'], ['x'.repeat(200)], ['call:1'], ['é']])(
    'gives a valid id in place of %j [field I4]',
    (received) => {
      const assign = providerCallIds(countingIds(), () => false);
      expect(assign(received)).toMatch(/^call_[0-9a-f]{24}$/);
    },
  );

  it('keeps a valid id, and changes the second one of a turn that repeats it [field I4] [SCH-9]', () => {
    const assign = providerCallIds(countingIds(), () => false);
    expect(assign('toolu_01A-z')).toBe('toolu_01A-z');
    expect(assign('toolu_01A-z')).toMatch(/^call_[0-9a-f]{24}$/);
  });

  it('changes an id that an earlier turn of the session has [field I4]', () => {
    const assign = providerCallIds(countingIds(), (id) => id === 'call_0');
    expect(assign('call_0')).toMatch(/^call_[0-9a-f]{24}$/);
  });

  it('gives valid and distinct ids whatever comes [field I4]', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 30 }), (received) => {
        const assign = providerCallIds(countingIds(), (id) => id.startsWith('a'));
        const given = received.map(assign);
        expect(new Set(given).size).toBe(received.length);
        for (const id of given) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
  });
});
