import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { turnParts } from '@agentd/contract/testing';
import { envelope } from '../file/testing/sample-events.ts';
import { SessionState } from '../session-state.ts';
import { payloadsOf, runToEnd } from '../testing/engine-harness.ts';
import { eventsOf, scripts } from '../testing/session-script.ts';
import { keptSayings, keptTurns } from './checkpoint-plan.ts';
import { pressureHarness, printTool } from './testing/pressure-harness.ts';
import { transcript } from './transcript.ts';

describe('turns as text', () => {
  it('take no more bytes than they may, whatever they were [SES-8]', () => {
    fc.assert(
      fc.property(scripts, fc.integer({ min: 0, max: 3000 }), (script, maxBytes) => {
        const { steps } = SessionState.of(eventsOf(script));
        expect(Buffer.byteLength(transcript(steps, maxBytes))).toBeLessThanOrEqual(Math.max(0, maxBytes));
      }),
      { numRuns: 200 },
    );
  });

  it('shorten pieces first, and leave out the oldest turns last [SES-8]', () => {
    const events = eventsOf([
      {
        input: 'the task',
        end: null,
        turns: Array.from({ length: 40 }, (_, index) => ({
          said: `turn ${index} ${'x'.repeat(2000)}`,
          reasoning: 'thought',
          steer: null,
          calls: [],
        })),
      },
    ]);
    const { steps } = SessionState.of(events);
    const whole = transcript(steps, 1_000_000);
    expect(whole).toContain('USER: the task');
    expect(whole).not.toContain('thought');
    const tight = transcript(steps, 30_000);
    for (const index of steps.keys()) expect(tight).toContain(`turn ${index} `);
    const tightest = transcript(steps, 2500);
    expect(tightest).toMatch(/^\[3\d older turns left out\]/);
    expect(tightest).toContain('turn 39 ');
  });

  it('hold calls whose arguments parse, with 50 KB of emoji and quotes cut inside [field I15] [SES-8]', async () => {
    const content = '"😀\n\\'.repeat(10_000);
    const { create, summaries, turns, shown } = pressureHarness({
      answer: (_request, turn) => {
        if (turn === 0)
          return turnParts('', [{ id: 'w', tool: 'write', args: { filePath: 'src/a.ts', content } }]);
        if (turn > 3) return turnParts('done');
        return turnParts('', [{ id: `c${turn}`, tool: 'print', args: { label: 'x', bytes: 100 } }]);
      },
      tools: [printTool],
    });
    expect(await runToEnd(await create())).toMatchObject({ status: 'completed' });
    expect(payloadsOf(shown, 'context_checkpoint_committed')).toHaveLength(1);
    const [message] = summaries[0]?.messages ?? [];
    const text = message?.role === 'user' ? message.content[0]?.text : '';
    const [, json = ''] = /^CALL write (.*)$/m.exec(text ?? '') ?? [];
    const args = JSON.parse(json) as { filePath: string; content: string };
    expect(args.filePath).toBe('src/a.ts');
    expect(args.content.isWellFormed()).toBe(true);
    expect(content.startsWith(args.content.split('… [')[0] ?? 'nothing')).toBe(true);
    // Later requests do not hold the call any more; those that do hold it whole.
    const held = turns.map(({ messages }) =>
      JSON.stringify(messages).includes(JSON.stringify(content).slice(1, 2000)),
    );
    expect(held.lastIndexOf(true)).toBeLessThan(held.length - 1);
  });
});

describe('what a checkpoint leaves', () => {
  it.each([
    ['as many of the newest turns as fit', [9, 9, 1, 1, 1], { keep: 4, room: 4 }, 3],
    ['the last one while it fits at all', [1, 5, 5], { keep: 4, room: 10 }, 1],
    ['or none', [1, 5, 11], { keep: 4, room: 10 }, 0],
    ['or all', [1, 1], { keep: 4, room: 10 }, 2],
    ['and nothing where there is no room', [1, 1], { keep: -4, room: -10 }, 0],
  ] as const)('is %s [SES-8]', (...[, tokens, limits, expected]) => {
    expect(keptTurns(tokens, limits)).toBe(expected);
  });

  it('is the task and the newest that a user said, shortened [SES-8]', () => {
    const input = (text: string) => ({
      input: text,
      turns: [{ said: 's', reasoning: null, steer: null, calls: [] }],
      end: null,
    });
    const said = (texts: readonly string[], bytes: number) =>
      keptSayings(SessionState.of(eventsOf(texts.map(input))).steps, bytes);
    expect(said(['task', 'b', 'c'], 8192)).toEqual(['task', 'b', 'c']);
    const long = ['task', ...Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(900)}`), 'last'];
    const kept = said(long, 8192);
    expect(kept[0]).toBe('task');
    expect(kept.at(-1)).toBe('last');
    expect(kept.length).toBeLessThan(12);
    expect(kept.every((text) => long.includes(text))).toBe(true);
    expect(said(['y'.repeat(100_000)], 8192)[0]?.length).toBeLessThan(2000);
    expect(said([], 8192)).toEqual([]);
  });

  it('is not undone by a checkpoint that covers less, nor by one that stands there twice [SES-3] [SES-8]', () => {
    const script = [
      {
        input: 'a',
        turns: [1, 2, 3].map(() => ({ said: 's', reasoning: null, steer: null, calls: [] })),
        end: null,
      },
    ];
    const events = eventsOf(script);
    const checkpoint = (through: number, summary: string) =>
      envelope(99, {
        type: 'context_checkpoint_committed',
        through_seq: through,
        summary,
        said: [],
        model: null,
        reason: 'size',
      });
    const files = envelope(99, { type: 'context_rehydrated', files: [{ label: 'l', text: 't' }] });
    const state = SessionState.of([
      ...events,
      checkpoint(5, 'new'),
      files,
      checkpoint(4, 'old'),
      checkpoint(5, 'again'),
    ]);
    expect(state.context).toMatchObject({ covered: 2, checkpoints: 1, checkpoint: { summary: 'new' } });
    expect(state.context.files).toHaveLength(1);
  });
});
