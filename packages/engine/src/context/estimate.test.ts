import { describe, expect, it } from '@jest/globals';
import type { Attachment, ModelMessage } from '@agentd/contract';
import { contextLimits } from './context-limits.ts';
import { contextSize, fixedTokens, messagesTokens, VIDEO_TOKENS } from './estimate.ts';

const file = (mime: string): Attachment => ({
  mime_type: mime,
  byte_length: 20_000_000,
  sha256: 'a'.repeat(64),
  filename: 'f',
  reference: { uri: `artifact://sha256/${'a'.repeat(64)}` },
});
const result = (attachments: readonly Attachment[]): ModelMessage => ({
  role: 'tool',
  content: [
    { type: 'tool_result', provider_call_id: 'c', tool: 't', text: 'x', is_error: false, attachments },
  ],
});
const said = (attachments: readonly Attachment[]): ModelMessage => ({
  role: 'user',
  content: [{ type: 'text', text: 'x' }],
  attachments,
});

describe('the estimated size of a message', () => {
  it.each([
    ['a result', result],
    ['what a user said', said],
  ] as const)('is that of its text, with 40,000 tokens for each film of %s [MED-7]', (_, message) => {
    const bare = messagesTokens([message([])]);
    const stills = ['image/png', 'application/pdf', 'audio/mpeg'].map(file);
    expect(messagesTokens([message(stills)])).toBe(bare);
    const films = ['video/mp4', 'video/webm'].map(file);
    expect(messagesTokens([message([...stills, ...films])])).toBe(bare + 2 * 40_000);
    expect(VIDEO_TOKENS).toBe(40_000);
  });

  it('goes by bytes, and counts arguments and reasoning, but no signature', () => {
    const message = (text: string, data: object): ModelMessage => ({
      role: 'assistant',
      model: 'm/1',
      content: [
        { type: 'reasoning', text, provider_data: { signature: 's'.repeat(9000) } },
        { type: 'text', text },
        { type: 'tool_call', provider_call_id: 'c', tool: 'bash', input: data as never },
      ],
    });
    const small = messagesTokens([message('', {})]);
    expect(small).toBeLessThan(20);
    expect(messagesTokens([message('ä'.repeat(2000), { command: 'c'.repeat(4000) })]) - small).toBe(
      2 * 1000 + Math.ceil((4000 + '"command":""'.length) / 4),
    );
  });

  it('includes what each request carries', () => {
    const tool = { name: 'n', description: 'd'.repeat(396), parameters: {} };
    expect(fixedTokens({ system: 's'.repeat(400), tools: [] })).toBe(100);
    expect(fixedTokens({ system: '', tools: [tool] })).toBeGreaterThan(100);
  });
});

describe('the estimated size of the next request', () => {
  const history = { tokens: 1000, newTokens: 100 };
  it.each([
    ['our own where nothing was counted', { reported: null, saved: 0 }, 1050],
    ['what was counted and what is new', { reported: 3000, saved: 0 }, 3100],
    ['less what was taken out since', { reported: 3000, saved: 400 }, 2700],
    ['never below what is new', { reported: 700, saved: 400 }, 400],
    ['a count that is somewhat lower than ours, too', { reported: 600, saved: 0 }, 700],
    ['our own where the count cannot be true', { reported: 15, saved: 0 }, 1050],
  ] as const)('is %s [SES-8]', (_, counted, expected) => {
    expect(contextSize({ history, fixed: 50, counted })).toBe(expected);
  });
});

describe('the limits of a context', () => {
  const percent = (triggerPercent: number) => ({ triggerPercent });
  it.each([
    ['the context less the reserved output', 100_000, 8000, null, 70, { room: 92_000, trigger: 64_400 }],
    ['less what the agent may write', 100_000, 8000, 2000, 70, { room: 98_000, trigger: 68_600 }],
    ['no more output than a model has', 100_000, 8000, 50_000, 50, { room: 92_000, trigger: 46_000 }],
    ['half of a small context', 10_000, 8192, null, 70, { room: 5000, trigger: 3500 }],
    [
      'no longer output than is ever written',
      200_000,
      128_000,
      null,
      100,
      { room: 168_000, trigger: 168_000 },
    ],
  ] as const)('are %s [SES-8]', (...[, contextTokens, outputTokens, documented, trigger, expected]) => {
    expect(contextLimits({ contextTokens, outputTokens }, documented, percent(trigger))).toEqual(expected);
  });
});
