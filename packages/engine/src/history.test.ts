import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AssistantPart, EventEnvelope, ModelMessage } from '@agentd/contract';
import { created, envelope, input, RUN } from './file/testing/sample-events.ts';
import type { EnginePayload } from './events.ts';
import { modelMessages } from './history.ts';
import { SessionState } from './session-state.ts';
import { eventsOf, scripts } from './testing/session-script.ts';

const say = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const call = (id: string, tool = 'read', args = {}): AssistantPart => ({
  type: 'tool_call',
  provider_call_id: id,
  tool,
  input: args,
});
const turn = (content: readonly AssistantPart[], throughSeq: number): EnginePayload => ({
  type: 'model_turn_committed',
  model: 'm/1',
  content: [...content],
  finish_reason: 'stop',
  input_through_seq: throughSeq,
});
const started = (id: string): EnginePayload => ({
  type: 'tool_call_started',
  tool_call_id: `call-${id}`,
  provider_call_id: id,
  tool: 'read',
  args: {},
  action: 'read',
  label: 'a',
  output: { kind: 'single' },
});
const ended = (
  id: string,
  text: string,
  outcome: 'completed' | 'cancelled' = 'completed',
): EnginePayload => ({
  type: 'tool_call_terminated',
  tool_call_id: `call-${id}`,
  outcome,
  result: { text, metadata: {}, display: 'd', attachments: [], retained_output: null },
  error: outcome === 'completed' ? null : { code: 'cancelled', message: 'by the user' },
});

/** The history of a session that begins with `session_created` (1). */
function historyOf(payloads: readonly EnginePayload[]): readonly ModelMessage[] {
  return modelMessages(
    SessionState.of([created, ...payloads].map((payload, index) => envelope(index + 1, payload, RUN))),
  );
}

const resultsOf = (messages: readonly ModelMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.content : []));

describe('modelMessages', () => {
  it('answers the calls of a turn in one message, in call order, whatever the order of completion [SCH-7] [SES-5]', () => {
    const messages = historyOf([
      input('go'),
      turn([{ type: 'text', text: 'both' }, call('p1'), call('p2')], 2),
      started('p1'),
      started('p2'),
      ended('p2', 'second'),
      ended('p1', 'first'),
    ]);
    expect(messages).toEqual([
      say('go'),
      { role: 'assistant', model: 'm/1', content: [{ type: 'text', text: 'both' }, call('p1'), call('p2')] },
      {
        role: 'tool',
        content: [
          { type: 'tool_result', provider_call_id: 'p1', tool: 'read', text: 'first', is_error: false },
          { type: 'tool_result', provider_call_id: 'p2', tool: 'read', text: 'second', is_error: false },
        ],
      },
    ]);
  });

  it('shows what the model called, whatever the call stood for [SES-5]', () => {
    const relayed = call('p1', 'relay');
    const messages = historyOf([
      input('go'),
      turn([relayed], 2),
      { ...started('p1'), tool: 'a_echo', args: { x: 1 } } as EnginePayload,
      ended('p1', 'first'),
    ]);
    expect(messages[1]).toMatchObject({ role: 'assistant', content: [relayed] });
    expect(resultsOf(messages)).toMatchObject([{ provider_call_id: 'p1', tool: 'relay', text: 'first' }]);
  });

  it('hands on the files of a result, and leaves out what a damaged log has of them [FS-12] [SES-3]', () => {
    const file = {
      mime_type: 'image/png',
      byte_length: 3,
      sha256: 'a'.repeat(64),
      filename: null,
      reference: { uri: `artifact://sha256/${'a'.repeat(64)}` },
    };
    const damaged = [{}, { ...file, sha256: 'A' }, { ...file, byte_length: -1 }, { ...file, reference: 'x' }];
    const withFiles = (id: string, attachments: readonly object[]): EnginePayload => {
      const result = { text: 't', metadata: {}, display: '', attachments, retained_output: null };
      return { ...ended(id, 't'), result } as EnginePayload;
    };
    const messages = historyOf([
      input('go'),
      turn([call('p1'), call('p2')], 2),
      started('p1'),
      started('p2'),
      withFiles('p1', [damaged[0]!, file, ...damaged.slice(1), { ...file, later: 'field' }]),
      withFiles('p2', damaged),
    ]);
    const base = { type: 'tool_result', tool: 'read', text: 't', is_error: false };
    expect(resultsOf(messages)).toEqual([
      { ...base, provider_call_id: 'p1', attachments: [file, file] },
      { ...base, provider_call_id: 'p2' },
    ]);
  });

  it('marks calls without a result, started or not, and a later prompt comes after them [SES-5] [field I1] [field J5]', () => {
    const messages = historyOf([
      input('go'),
      turn([call('p1'), call('p2'), call('p3')], 2),
      started('p1'),
      started('p2'),
      ended('p1', 'out', 'cancelled'),
      input('go on', 'i2'),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    const [first, ...others] = resultsOf(messages);
    expect(first).toMatchObject({ text: 'out\nerror: cancelled: by the user', is_error: true });
    expect(others).toHaveLength(2);
    for (const { is_error, text } of others) {
      expect(is_error).toBe(true);
      expect(text).toMatch(/^error: interrupted: no result of this call was recorded/);
    }
    expect(messages.at(-1)).toEqual(say('go on'));
  });

  it('leaves out a result whose call was lost [field J5]', () => {
    const messages = historyOf([
      input('go'),
      started('lost'),
      ended('lost', 'out'),
      turn([{ type: 'text', text: 'a' }], 2),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('places an input before the turn that took it into account, and else after its results [SES-5]', () => {
    const steer = (text: string, id: string): EnginePayload => ({
      type: 'user_input_submitted',
      input_id: id,
      text,
      kind: 'steer',
    });
    const messages = historyOf([
      input('go'),
      steer('in time', 'i2'),
      steer('too late', 'i3'),
      turn([call('p1')], 3),
      started('p1'),
      steer('later', 'i4'),
      ended('p1', 'out'),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(messages[0]).toMatchObject({ content: [{ text: 'go' }, { text: 'in time' }] });
    expect(messages[3]).toMatchObject({ content: [{ text: 'too late' }, { text: 'later' }] });
  });

  it('forgets an input that was recalled in time, and none that a turn had taken [SES-5]', () => {
    const recall = (id: string): EnginePayload => ({ type: 'user_input_recalled', input_id: id });
    expect(historyOf([input('a', 'i1'), input('b', 'i2'), recall('i2')])).toEqual([say('a')]);
    const taken = historyOf([input('a', 'i1'), turn([{ type: 'text', text: 't' }], 2), recall('i1')]);
    expect(taken[0]).toEqual(say('a'));
  });

  it('holds nothing of an attempt that was abandoned [SES-5] [field I1]', () => {
    const messages = historyOf([
      input('a'),
      { type: 'model_attempt_started', model: 'm/1', attempt: 1 },
      {
        type: 'attempt_abandoned',
        model: 'm/1',
        attempt: 1,
        error: { code: 'x', message: 'cut' },
        retry_in_ms: null,
      },
      { type: 'run_interrupted' },
      input('b', 'i2'),
    ]);
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  it('begins with what the workspace says, also where that was read after the first input [SES-5]', () => {
    const notes = (text: string): EnginePayload => ({
      type: 'agents_md_loaded',
      path: '/w/AGENTS.md',
      sha256: '',
      text,
    });
    const messages = historyOf([
      input('a'),
      notes('be kind'),
      turn([{ type: 'text', text: 't' }], 3),
      notes('be brief'),
    ]);
    expect(messages[0]).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringContaining('be kind') }],
    });
    expect(messages[1]).toEqual(say('a'));
    expect(messages[3]).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringContaining('be brief') }],
    });
  });

  it.each([
    ['an input', [input(' \n')], say('(empty message)')],
    ['one of two inputs', [input(''), input('b', 'i2')], say('b')],
    [
      'a turn',
      [input('a'), turn([{ type: 'text', text: '\n' }], 2)],
      { role: 'assistant', model: 'm/1', content: [{ type: 'text', text: '(no text)' }] },
    ],
    [
      'text beside a call',
      [input('a'), turn([{ type: 'text', text: ' ' }, call('p1')], 2)],
      { role: 'assistant', model: 'm/1', content: [call('p1')] },
    ],
    [
      'a result',
      [input('a'), turn([call('p1')], 2), started('p1'), ended('p1', '')],
      {
        role: 'tool',
        content: [
          { type: 'tool_result', provider_call_id: 'p1', tool: 'read', text: '(no output)', is_error: false },
        ],
      },
    ],
  ] as const)('never shows an empty text for %s [field I5]', (_, payloads, expected) => {
    expect(historyOf(payloads)).toContainEqual(expected);
  });

  it('keeps reasoning as it is, signed reasoning without text too, and drops what is nothing [field I5]', () => {
    const signed: AssistantPart = { type: 'reasoning', text: '', provider_data: { signature: 's' } };
    const thought: AssistantPart = { type: 'reasoning', text: 'hm\0', provider_data: { signature: 't' } };
    const messages = historyOf([input('a'), turn([signed, { type: 'reasoning', text: '' }, thought], 2)]);
    expect(messages[1]).toMatchObject({ content: [signed, thought, { type: 'text', text: '(no text)' }] });
  });

  it('holds no half surrogate pair and no NUL, and an object as the input of each call [field I5]', () => {
    const odd = {
      type: 'tool_call',
      provider_call_id: 'p1',
      tool: 'no such tool!',
      input: [1],
      raw_input: '[1]',
    } as const;
    const messages = historyOf([
      input('a\ud800\0'),
      turn([{ type: 'text', text: 'b\udc00\0' }, odd, call('p2', 'read', { 'k\0': ['c\ud800\0'] })], 2),
    ]);
    expect(JSON.stringify(messages)).not.toMatch(/\\u0000|\\ud[89a-f]/);
    expect(messages[1]).toMatchObject({
      content: [
        { text: 'b\ufffd\u2400' },
        { type: 'tool_call', provider_call_id: 'p1', tool: 'no_such_tool_', input: {} },
        { input: { 'k\u2400': ['c\ufffd\u2400'] } },
      ],
    });
    expect(resultsOf(messages)[0]).toMatchObject({ tool: 'no_such_tool_' });
    expect(JSON.stringify(messages)).not.toContain('raw_input');
  });

  it('makes ids distinct and valid where a damaged log has them otherwise [field J17]', () => {
    const messages = historyOf([
      input('a'),
      turn([call('p1'), call('bad id')], 2),
      turn([call('p1')], 2),
      started('p1'),
      ended('p1', 'second'),
    ]);
    expect(resultsOf(messages).map(({ provider_call_id: id }) => id)).toEqual(['p1', 'bad_id', 'p1_2']);
    expect(resultsOf(messages)[2]).toMatchObject({ text: 'second' });
    assertValid(messages);
  });

  it('passes over parts that are damaged or that nobody knows here [EVT-1]', () => {
    const content = [
      { type: 'text' },
      { type: 'hologram', data: 1 },
      { type: 'tool_call', tool: 'x' },
      { type: 'text', text: 'b' },
    ];
    const messages = historyOf([input('a'), turn(content as unknown as AssistantPart[], 2)]);
    expect(messages[1]).toMatchObject({ content: [{ type: 'text', text: 'b' }] });
  });

  it('stays valid whatever lines are lost, torn off, doubled or exchanged [SES-5] [SCH-7] [field I1] [field I5] [field J5]', () => {
    fc.assert(
      fc.property(scripts, damages, (script, damage) => {
        assertValid(modelMessages(SessionState.of(damaged(eventsOf(script), damage))));
      }),
      { numRuns: 300 },
    );
  });

  it('is the same event by event as at once, and never takes back what it said of finished steps [SES-5]', () => {
    fc.assert(
      fc.property(scripts, damages, (script, damage) => {
        const events = damaged(eventsOf(script), damage);
        const state = new SessionState();
        for (const [index, event] of events.entries()) {
          state.apply(event);
          const now = modelMessages(state);
          expect(now).toEqual(modelMessages(SessionState.of(events.slice(0, index + 1))));
          assertValid(now);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('loses no call, no result and no input of a sound log [SES-5]', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const messages = modelMessages(SessionState.of(eventsOf(script)));
        const calls = script.flatMap(({ turns }) => turns.flatMap(({ calls }) => calls));
        const results = resultsOf(messages);
        expect(results.map(({ is_error }) => !is_error)).toEqual(
          calls.map(({ fate }) => fate === 'completed'),
        );
        const lost = results.map(({ text }) => text.includes('no result of this call was recorded'));
        expect(lost).toEqual(calls.map(({ fate }) => fate === 'unstarted' || fate === 'open'));
        const steers = script.flatMap(({ turns }) => turns.filter(({ steer }) => steer !== null));
        const shown = messages.flatMap((message) => (message.role === 'user' ? message.content : []));
        expect(shown.filter(({ text }) => text === 'before' || text === 'during')).toHaveLength(
          steers.length,
        );
      }),
      { numRuns: 100 },
    );
  });

  it('renders a finished step once, so that a turn costs what it adds [SES-5]', () => {
    const events = eventsOf([{ input: 'go', end: null, turns: Array.from({ length: 200 }, () => step) }]);
    const state = SessionState.of(events);
    const before = modelMessages(state);
    state.apply(envelope(events.length + 1, turn([{ type: 'text', text: 'one more' }], events.length)));
    const after = modelMessages(state);
    expect(after.length).toBe(before.length + 1);
    for (const [index, message] of before.entries()) expect(after[index]).toBe(message);
  });
});

const step = {
  said: 'said',
  reasoning: null,
  steer: null,
  calls: [{ text: 'said', fate: 'completed' }],
} as const;

interface Damage {
  readonly lost: readonly number[];
  readonly twice: readonly number[];
  readonly exchanged: readonly number[];
  /** Permille of the log that was written before a crash. */
  readonly kept: number;
}
const places = fc.array(fc.nat(60), { maxLength: 5 });
const damages = fc.record<Damage>({
  lost: places,
  twice: places,
  exchanged: places,
  kept: fc.constantFrom(1000, 1000, 700, 300),
});

/** The events of a log that lost lines, has some twice, some exchanged with the next, and breaks off. The header stays. */
function damaged(
  events: readonly EventEnvelope[],
  { lost, twice, exchanged, kept }: Damage,
): readonly EventEnvelope[] {
  const [header, ...rest] = events;
  const lines = rest
    .slice(0, Math.ceil((rest.length * kept) / 1000))
    .flatMap((event, index) =>
      lost.includes(index) ? [] : twice.includes(index) ? [event, event] : [event],
    );
  for (const place of exchanged) {
    const [first, second] = [lines[place], lines[place + 1]];
    if (first !== undefined && second !== undefined) lines.splice(place, 2, second, first);
  }
  return [header!, ...lines];
}

function assertValid(messages: readonly ModelMessage[]): void {
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const [before, after] = [messages[index - 1], messages[index + 1]];
    if (message.role === 'tool') expect(before?.role).toBe('assistant');
    else assertTexts(message.content);
    if (message.role !== 'assistant') continue;
    expect(['user', 'tool']).toContain(before?.role);
    const calls = message.content
      .filter((part) => part.type === 'tool_call')
      .map((part) => part.provider_call_id);
    for (const id of calls) {
      expect(ids.has(id)).toBe(false);
      expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      ids.add(id);
    }
    const answered = after?.role === 'tool' ? after.content : [];
    expect(answered.map(({ provider_call_id: id }) => id)).toEqual(calls);
    for (const { text } of answered) expect(text.trim()).not.toBe('');
    expect(message.content.some(({ type }) => type !== 'reasoning')).toBe(true);
  }
  expect(JSON.stringify(messages)).not.toMatch(/\\u0000|\\ud[89a-f]/);
}

function assertTexts(content: readonly (AssistantPart | { type: 'text'; text: string })[]): void {
  expect(content.length).toBeGreaterThan(0);
  for (const part of content) if (part.type === 'text') expect(part.text.trim()).not.toBe('');
}
